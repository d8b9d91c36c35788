import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';

/** What `status.restarts` of tags is to say; the tag's own pass writes it, since a status has one writer. */
export interface RestartSource {
  /** Undefined: the tag asks for no restarts, and the field goes. */
  shown(tag: AskingTag): RestartStatus | undefined;
}

/** What of a tag tells whether it asks for restarts. */
export type AskingTag = Pick<RevisionTag, 'metadata' | 'spec' | 'status'>;

/** Whether a tag asks for restarts, now or after a rollback. */
export function wantsRestarts({ spec: { strategy } }: Pick<RevisionTag, 'spec'>): boolean {
  return strategy?.restart !== undefined || strategy?.rollback?.restart === 'Canary';
}

/** Whether there may be anything to restart for a tag now: with `rollback.restart` alone only once a canary was rolled back. */
export function asksForRestarts({ spec, status }: Pick<RevisionTag, 'spec' | 'status'>): boolean {
  if (spec.strategy?.restart !== undefined) return true;
  return isRollbackOnly({ spec }) && status?.rollout?.rolledBackFrom !== undefined;
}

/** Whether a tag wants only those workloads restarted that have a canary which was rolled back. */
export function isRollbackOnly({ spec: { strategy } }: Pick<RevisionTag, 'spec'>): boolean {
  return strategy?.restart === undefined && strategy?.rollback?.restart === 'Canary';
}

/** What an operator says that restarts nothing, where a tag asks for it: so many workloads are `stale`, as far as that is known. */
export function notAllowed(tag: AskingTag, why: keyof typeof reasons, stale: number): RestartStatus | undefined {
  if (!wantsRestarts(tag)) return undefined;
  return { phase: 'NotAllowed', message: reasons[why], stale, inProgress: 0, waiting: [], untouched: [] };
}

const reasons = {
  flag: 'this operator restarts no workloads; start it with --restart-workloads (operator.restartWorkloads: true of the chart, which brings the rights), or remove spec.strategy.restart and spec.strategy.rollback.restart',
  pods: 'restarts need the pods of the cluster, which this operator does not follow (--no-follow-pods, operator.followPods: false of the chart); follow them, or remove spec.strategy.restart and spec.strategy.rollback.restart',
} as const;
