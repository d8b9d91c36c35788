import type { Account } from './account.ts';

/** The CPU seconds that scenarios and control planes may use, from scripts/budget.json. */
export interface CpuBudget {
  /** All control planes of a run together. */
  readonly controlPlanes: number;
  /** The processes that a scenario started: the most of an idle and of a busy run of CI. */
  readonly scenarios: Readonly<Record<string, number>>;
}

/** A run fails if a scenario exceeds its budget by this factor. */
const tolerance = 1.5;
/** Small figures depend on chance. */
const ignoredSeconds = 2;
/** The least number of scenarios whose median shows how fast a machine is: `make test` runs six. */
const enough = 5;
/** A greater median is a regression: no machine is that slow. */
const slowest = 2;

/**
 * Compares accounts with the budget. Returns a line for each scenario that is above its budget or
 * has none, and the number of those that exceed it by more than half or have none. The median
 * scenario shows how much slower than the budget's machine this machine is: other work on the
 * machine takes a share of its caches, so that all scenarios need more CPU seconds.
 */
export function compareWithBudget(accounts: readonly Account[], budget: CpuBudget) {
  const lines: string[] = [];
  let failed = 0;
  const ratios = accounts
    .flatMap(({ kind, name, cpuSeconds = 0 }) => {
      const allowed = kind === 'scenario' && cpuSeconds >= ignoredSeconds ? budget.scenarios[name] : undefined;
      return allowed === undefined ? [] : [cpuSeconds / allowed];
    })
    .sort((one, other) => one - other);
  const slower = ratios.length < enough ? 1 : Math.max(1, ratios[Math.floor(ratios.length / 2)]!);
  if (slower > 1) lines.push(`the median scenario used ${slower.toFixed(2)} times its budget`);
  if (slower > slowest) failed += 1;
  const compare = (name: string, used: number, allowed: number | undefined): void => {
    if (allowed === undefined) {
      lines.push(`FAIL  ${name} has no budget in scripts/budget.json; it used ${used.toFixed(1)} CPU seconds`);
      failed += 1;
      return;
    }
    const ratio = used / (allowed * slower);
    if (ratio <= 1 || used < ignoredSeconds) return;
    const isFailure = ratio > tolerance;
    if (isFailure) failed += 1;
    const budgeted = `its budget is ${(allowed * slower).toFixed(1)}`;
    lines.push(`${isFailure ? 'FAIL ' : 'above'} ${name} used ${used.toFixed(1)} CPU seconds, ${budgeted}`);
  };
  for (const { kind, name, step = '', cpuSeconds } of accounts)
    if (kind === 'scenario' && cpuSeconds !== undefined)
      compare(`scenario ${name} (${step})`, cpuSeconds, budget.scenarios[name]);
  const ofControlPlanes = accounts.filter(({ kind }) => kind === 'control plane');
  const sum = ofControlPlanes.reduce((total, { cpuSeconds = 0 }) => total + cpuSeconds, 0);
  compare(`${ofControlPlanes.length} control planes`, sum, budget.controlPlanes);
  return { lines, failed };
}
