/** One condition of readiness. */
export interface ReadinessCheck {
  /** e.g. `certificates`. */
  readonly name: string;
  /** Undefined when all is well, otherwise what is missing. A rejected promise counts as missing, and so does one that takes too long. */
  check(): string | undefined | Promise<string | undefined>;
}

/**
 * Runs all checks at once; each has `timeout` milliseconds.
 * @returns a line for each check, too, as Kubernetes' own `/readyz?verbose` prints them
 */
export async function checkReadiness(
  checks: readonly ReadinessCheck[],
  timeout: number,
): Promise<{ ready: boolean; lines: string[] }> {
  const problems = await Promise.all(checks.map((check) => problemOf(check, timeout)));
  return {
    ready: problems.every((problem) => problem === undefined),
    lines: checks.map(({ name }, index) => {
      const problem = problems[index];
      return problem === undefined ? `[+]${name} ok` : `[-]${name} ${problem}`;
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
