export interface Counted {
  passed: number;
  failed: number;
}

/**
 * Reads how much ran from a step's output.
 * A step that exits non-zero has failed at least once, whatever it printed; a counting step that printed no figures has failed too.
 */
export function countResults(counts: 'one' | 'mocha' | 'summary', output: string, exitCode: number): Counted {
  if (counts === 'one') return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  const passed = last(output, counts === 'mocha' ? /^\s*(\d+) passing\b/gm : /^(\d+) passed, \d+ failed/gm);
  const failed = last(output, counts === 'mocha' ? /^\s*(\d+) failing\b/gm : /^\d+ passed, (\d+) failed/gm) ?? 0;
  if (passed === undefined) return { passed: 0, failed: Math.max(failed, 1) };
  return { passed, failed: exitCode === 0 ? failed : Math.max(failed, 1) };
}

function last(output: string, pattern: RegExp): number | undefined {
  const match = [...output.matchAll(pattern)].at(-1);
  return match === undefined ? undefined : Number(match[1]);
}
