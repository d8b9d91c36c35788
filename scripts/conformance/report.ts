import { readFileSync, existsSync } from 'node:fs';
import type { ConformanceCase, Mismatch } from './conformance-case.ts';

/** The results of a run. */
export interface Report {
  readonly groups: ReadonlyMap<string, GroupTotals>;
  /** The ids of cases with deliberate differences, by the name of the difference. */
  readonly differences: ReadonlyMap<string, readonly string[]>;
  readonly lines: readonly string[];
}

export interface GroupTotals {
  passed: number;
  failed: number;
  pending: number;
  differing: number;
}

/** Returns the ids of cases that are known to fail, one per line; `#` begins a comment. */
export function readPending(path: string): ReadonlySet<string> {
  if (!existsSync(path)) return new Set();
  const lines = readFileSync(path, 'utf8').split('\n');
  return new Set(lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== ''));
}

/** Runs the cases. If a pending case passes, the run fails, so that the list can only shrink. */
export function runCases(cases: Iterable<ConformanceCase>, pending: ReadonlySet<string>): Report {
  const groups = new Map<string, GroupTotals>();
  const differences = new Map<string, string[]>();
  const lines: string[] = [];
  for (const { id, group, run } of cases) {
    const totals = groups.get(group) ?? { passed: 0, failed: 0, pending: 0, differing: 0 };
    groups.set(group, totals);
    const mismatch = attempt(run);
    if (mismatch === undefined) {
      totals.passed += 1;
      if (!pending.has(id)) continue;
      totals.failed += 1;
      lines.push(`${id} passes: remove it from the pending list`);
    } else if (mismatch.differences !== undefined) {
      totals.passed += 1;
      totals.differing += 1;
      for (const name of mismatch.differences) differences.set(name, [...(differences.get(name) ?? []), id]);
    } else if (pending.has(id)) {
      totals.pending += 1;
    } else {
      totals.failed += 1;
      lines.push(`${id}: ${mismatch.summary}`);
    }
  }
  return { groups, differences, lines };
}

function attempt(run: () => Mismatch | undefined): Mismatch | undefined {
  try {
    return run();
  } catch (error) {
    return {
      summary: `threw ${error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' ') : String(error)}`,
    };
  }
}

/** Returns lines with the totals of each group, and a last line with the sum. */
export function formatTotals({ groups }: Report): string[] {
  const sum = { passed: 0, failed: 0, pending: 0, differing: 0 };
  const lines: string[] = [];
  for (const [group, totals] of groups) {
    sum.passed += totals.passed;
    sum.failed += totals.failed;
    sum.pending += totals.pending;
    sum.differing += totals.differing;
    lines.push(`${group}: ${describe(totals)}`);
  }
  return [...lines, `total: ${describe(sum)}`, `${sum.passed} passed, ${sum.failed} failed`];
}

function describe({ passed, failed, pending, differing }: GroupTotals): string {
  const parts = [`${passed - differing} equal`, `${differing} deliberately different`, `${failed} failed`];
  if (pending > 0) parts.push(`${pending} pending`);
  return parts.join(', ');
}
