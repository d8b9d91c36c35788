import { everyWorkload, getsCanary, noWorkload } from './workload-key.ts';

const highest = (1n << 64n) - 1n;

/**
 * The threshold below which exactly `ceil(n · weight / 100)` of the ranks lie: none at weight 0, at least one at any other weight if there is one,
 * all at 100. Between the last rank that it takes and the next one it stands as close as it can to the share of all possible ranks, so that
 * workloads which come later get the canary in the same proportion.
 *
 * Never smaller than `before`, so that no workload that gets the canary loses it while the weight stands or grows; then it may take more than
 * its share of the ranks.
 * @param ranks of the workloads that are known, in any order; equal ranks count once
 * @param weight percent, 0 to 100
 * @param before the threshold that is in force, {@link noWorkload} when the rollout begins
 */
export function thresholdFor(ranks: readonly string[], weight: number, before: string): string {
  const exact = exactThreshold(ranks, weight);
  return exact < before ? before : exact;
}

/** How many of the ranks get the canary below this threshold; equal ranks count once. */
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
  // One below everyWorkload, which would take the ranks above it as well.
  const largest = next === undefined ? highest - 1n : BigInt(`0x${next}`);
  const share = (highest * BigInt(weight)) / 100n;
  const within = share < lowest ? lowest : share > largest ? largest : share;
  return (within > highest ? highest : within).toString(16).padStart(16, '0');
}
