import type { Clock } from '../../kube/ports.ts';
import type { ObservedWorkload } from '../../rollout/observation.ts';
import { rankOf, type RolloutWorkload } from '../../routing/workload-key.ts';

/** How long a workload still counts after its last pod was removed, in milliseconds. */
export const lingerMs = 60_000;

/** The namespace of a workload's last pod, and its removal time (`clock.monotonic`). */
interface Gone {
  readonly namespace: string;
  readonly at: number;
}

/**
 * Remembers, for each tag, workloads whose last pod was removed within the last minute, so that the
 * share of a step includes restarting workloads. Skips namespaces that are being deleted.
 */
export class RecentWorkloads {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The removed workloads of each tag, by rank, in the order of removal. */
  readonly #gone = new Map<string, Map<string, Gone>>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Records that the last pod of a workload was removed. */
  left(tag: string, workload: RolloutWorkload): void {
    const gone = this.#gone.get(tag) ?? new Map<string, Gone>();
    this.#gone.set(tag, gone);
    const rank = rankOf(tag, workload);
    gone.delete(rank);
    gone.set(rank, { namespace: workload.namespace, at: this.#clock.monotonic() });
    this.#dropOld(tag, gone);
  }

  /**
   * Returns the present workloads and those that had pods within the last minute.
   * @param isBeingDeleted whether a namespace is deleted or being deleted
   */
  withGone(
    tag: string,
    present: readonly ObservedWorkload[],
    isBeingDeleted: (namespace: string) => boolean,
  ): ObservedWorkload[] {
    const gone = this.#gone.get(tag);
    if (gone === undefined) return [...present];
    this.#dropOld(tag, gone);
    const known = new Set(present.map(({ rank }) => rank));
    const missing = [...gone].filter(([rank, { namespace }]) => !known.has(rank) && !isBeingDeleted(namespace));
    return [...present, ...missing.map(([rank, { namespace }]) => ({ rank, namespace, pods: 0 }))];
  }

  forget(tag: string): void {
    this.#gone.delete(tag);
  }

  #dropOld(tag: string, gone: Map<string, Gone>): void {
    const now = this.#clock.monotonic();
    for (const [rank, { at }] of gone) {
      if (now - at < lingerMs) break;
      gone.delete(rank);
    }
    if (gone.size === 0) this.#gone.delete(tag);
  }
}
