import type { Clock } from '../../kube/ports.ts';
import type { ObservedWorkload } from '../../rollout/observation.ts';
import { rankOf, type RolloutWorkload } from '../../routing/workload-key.ts';
import type { PodGroup } from '../usage/pod-group.ts';

/** For so long after its last pod a workload still counts. Milliseconds. */
export const lingerMs = 60_000;

/** When the last pod of a workload went, by `clock.monotonic`, and from where. */
interface Gone {
  readonly namespace: string;
  readonly at: number;
}

/**
 * The workloads of each tag whose last pod went a moment ago: one that is being restarted may have none just when a step begins, and would be
 * missing from the share. One whose namespace goes will not be back, and counts no more. Knows what has gone since the pods have been followed.
 */
export class RecentWorkloads {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #isLeaving: (namespace: string) => boolean;
  /** When each went and from where, by rank; the latest last. */
  readonly #gone = new Map<string, Map<string, Gone>>();

  /** @param isLeaving whether a namespace is gone or on its way out */
  constructor(clock: Pick<Clock, 'monotonic'>, isLeaving: (namespace: string) => boolean) {
    this.#clock = clock;
    this.#isLeaving = isLeaving;
  }

  /** The last pod of its kind that a workload had has gone. */
  left(tag: string, workload: RolloutWorkload): void {
    const gone = this.#gone.get(tag) ?? new Map<string, Gone>();
    this.#gone.set(tag, gone);
    const rank = rankOf(tag, workload);
    gone.delete(rank);
    gone.set(rank, { namespace: workload.namespace, at: this.#clock.monotonic() });
    this.#dropOld(tag, gone);
  }

  /** The workloads that count: those that have pods now, and those that had some a moment ago. */
  with(tag: string, present: readonly ObservedWorkload[]): ObservedWorkload[] {
    const gone = this.#gone.get(tag);
    if (gone === undefined) return [...present];
    this.#dropOld(tag, gone);
    const there = new Set(present.map(({ rank }) => rank));
    const missing = [...gone].filter(([rank, { namespace }]) => !there.has(rank) && !this.#isLeaving(namespace));
    return [...present, ...missing.map(([rank]) => ({ rank, pods: 0 }))];
  }

  /** Of pods that follow a tag those that are in namespaces that stay: what goes with its namespace is neither part of a share nor evidence. */
  staying(groups: Iterable<PodGroup>): PodGroup[] {
    return [...groups].filter(({ traits }) => !this.#isLeaving(traits.namespace));
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
