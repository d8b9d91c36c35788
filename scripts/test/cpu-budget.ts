import { createHash } from 'node:crypto';
import type { Account } from './account.ts';

/** The CPU seconds that scenarios and control planes may use, from scripts/budget.json. */
export interface CpuBudget {
  /** What {@link measureSpeed} returned on the machine of the budget. */
  readonly speed: number;
  /** All control planes of a run together. */
  readonly controlPlanes: number;
  /** The processes that a scenario started: the most of an idle and of a busy run of CI. */
  readonly scenarios: Readonly<Record<string, number>>;
}

/** A run fails if a scenario exceeds its budget by this factor. */
const tolerance = 1.5;
/** Small figures depend on chance. */
const ignoredSeconds = 2;

/**
 * Compares accounts with the budget. Returns a line for each scenario that is above its budget or
 * has none, and the number of those that exceed it by more than half or have none.
 *
 * @param slower how many times slower than the budget's machine this machine is, at least 1
 */
export function compareWithBudget(accounts: readonly Account[], budget: CpuBudget, slower: number) {
  const lines: string[] = [];
  let failed = 0;
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

/** Returns the CPU milliseconds of a fixed computation: the least of five. */
export function measureSpeed(): number {
  const text = Buffer.alloc(1 << 24, 'sidecar');
  const once = (): number => {
    const before = process.cpuUsage();
    createHash('sha256').update(text).digest();
    for (let sum = 0, index = 0; index < 3e7; index += 1) sum = (sum * 31 + index) | 0;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  return Math.min(...Array.from({ length: 5 }, once));
}
