import type { RolloutState } from '../../api/rollout-status.ts';

interface Counted {
  /** The rollout that they are counted for. */
  readonly rollout: string;
  /** What the replicas said last, in sum. */
  readonly reported: number;
  readonly failed: number;
}

/**
 * How many injections of a canary have failed since its rollout began. Replicas count from their own start on and for a pair of configurations, so
 * what counts is by how much their sum grows; a smaller sum means that a replica has gone.
 */
export class FailedInjections {
  readonly #counted = new Map<string, Counted>();

  /** The number now; what came while nobody led is not counted. */
  since(tag: string, state: Pick<RolloutState, 'startedAt' | 'injectionErrors'> | undefined, reported: number): number {
    const rollout = state?.startedAt ?? '';
    const before = this.#counted.get(tag);
    const grown = before?.rollout === rollout ? Math.max(0, reported - before.reported) : 0;
    const failed = (before?.rollout === rollout ? before.failed : (state?.injectionErrors ?? 0)) + grown;
    this.#counted.set(tag, { rollout, reported, failed });
    return failed;
  }

  forget(tag: string): void {
    this.#counted.delete(tag);
  }
}
