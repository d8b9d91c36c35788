export interface ReadinessCheck {
  /** For example `certificates`. */
  readonly name: string;
  /** Returns the problem; undefined if the check passes. A rejection or timeout is a failure. */
  check(): string | undefined | Promise<string | undefined>;
}

/**
 * Runs all checks in parallel, each with `timeout` milliseconds, except those named in `excluded`.
 * @returns the result, and a line for each check in the format of Kubernetes' `/readyz?verbose`
 */
export async function checkReadiness(
  checks: readonly ReadinessCheck[],
  timeout: number,
  excluded: readonly string[] = [],
): Promise<{ ready: boolean; lines: string[] }> {
  const problems = await Promise.all(
    checks.map((check) => (excluded.includes(check.name) ? Promise.resolve(undefined) : problemOf(check, timeout))),
  );
  return {
    ready: problems.every((problem) => problem === undefined),
    lines: checks.map(({ name }, index) => {
      const problem = problems[index];
      if (problem !== undefined) return `[-]${name} ${problem}`;
      return excluded.includes(name) ? `[+]${name} excluded: ok` : `[+]${name} ok`;
    }),
  };
}

async function problemOf(readinessCheck: ReadinessCheck, timeout: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, timeout, `no answer within ${timeout} ms`);
  });
  try {
    return await Promise.race([readinessCheck.check(), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
