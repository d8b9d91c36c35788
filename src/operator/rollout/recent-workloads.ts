import type { ObservedWorkload } from '../../rollout/observation.ts';

/** For so long after its last pod a workload still counts. Milliseconds. */
const lingerMs = 60_000;

/**
 * The workloads of each tag that have pods, and those that had some a moment ago: one that is being restarted may have none just when a step begins,
 * and would be missing from the share.
 */
export class RecentWorkloads {
  readonly #seen = new Map<string, Map<string, number>>();

  /**
   * @param present those that have pods now
   * @param now milliseconds on a clock that never goes back
   */
  with(tag: string, present: readonly ObservedWorkload[], now: number): ObservedWorkload[] {
    const seen = this.#seen.get(tag) ?? new Map<string, number>();
    this.#seen.set(tag, seen);
    for (const { rank } of present) seen.set(rank, now);
    const there = new Set(present.map(({ rank }) => rank));
    const workloads = [...present];
    for (const [rank, at] of seen) {
      if (there.has(rank)) continue;
      if (now - at >= lingerMs) seen.delete(rank);
      else workloads.push({ rank, pods: 0 });
    }
    return workloads;
  }

  forget(tag: string): void {
    this.#seen.delete(tag);
  }
}
