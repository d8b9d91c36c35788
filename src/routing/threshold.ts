import { everyWorkload, getsCanary, noWorkload } from './workload-key.ts';

const highest = (1n << 64n) - 1n;

/**
 * Returns the threshold below which exactly `ceil(n · weight / 100)` of the ranks lie. Between the
 * last included rank and the next rank, the threshold is as near as possible to the share of all
 * possible ranks, so that workloads created later get the canary in the same proportion. It is
 * never lower than `before`, so that no workload loses the canary, even if the share is exceeded.
 * @param ranks the ranks of the known workloads, in any order; equal ranks count once
 * @param weight the weight of the step, from 0 to 100 percent
 * @param before the published threshold, or {@link noWorkload} when the rollout begins
 */
export function thresholdFor(ranks: readonly string[], weight: number, before: string): string {
  const exact = exactThreshold(ranks, weight);
  return exact < before ? before : exact;
}

/** Counts the ranks that get the canary below this threshold; equal ranks count once. */
export function countBelow(ranks: readonly string[], threshold: string): number {
  return new Set(ranks.filter((rank) => getsCanary(rank, threshold))).size;
}

function exactThreshold(ranks: readonly string[], weight: number): string {
  if (weight <= 0) return noWorkload;
  if (weight >= 100) return everyWorkload;
  const sorted = [...new Set(ranks)].sort();
  const taken = Math.ceil((sorted.length * weight) / 100);
  const last = sorted[taken - 1];
  const next = sorted[taken];
  const lowest = last === undefined ? 1n : BigInt(`0x${last}`) + 1n;
  // One below everyWorkload, which would include all ranks.
  const largest = next === undefined ? highest - 1n : BigInt(`0x${next}`);
  const share = (highest * BigInt(weight)) / 100n;
  const within = share < lowest ? lowest : share > largest ? largest : share;
  return (within > highest ? highest : within).toString(16).padStart(16, '0');
}
