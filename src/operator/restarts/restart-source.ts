import { isInPlace } from '../../api/revision-tag/rollout-strategy.ts';
import type { OperatorSettings } from '../settings.ts';
import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';

/** Provides `status.restarts`. Only the pass over the tag writes this status. */
export interface RestartSource {
  /** Returns the field. Returns undefined, to remove the field, if the tag asks for no restarts. */
  shown(tag: AskingTag): RestartStatus | undefined;
}

/** A RevisionTag that may ask for restarts. */
export type AskingTag = Pick<RevisionTag, 'metadata' | 'spec' | 'status'>;

/** Reports whether the spec asks for restarts, immediately or after a rollback. */
export function wantsRestarts({ spec: { strategy } }: Pick<RevisionTag, 'spec'>): boolean {
  return strategy?.restart !== undefined || strategy?.rollback?.restart === 'Canary';
}

/** Reports whether a tag asks for restarts now. `rollback.restart` alone needs a rollback first. */
export function asksForRestarts({ spec, status }: Pick<RevisionTag, 'spec' | 'status'>): boolean {
  if (spec.strategy?.restart !== undefined) return true;
  return isRollbackOnly({ spec }) && status?.rollout?.rolledBackFrom !== undefined;
}

/** Reports whether the spec asks only to restart workloads with a rolled-back canary. */
export function isRollbackOnly({ spec: { strategy } }: Pick<RevisionTag, 'spec'>): boolean {
  return strategy?.restart === undefined && strategy?.rollback?.restart === 'Canary';
}

/** Returns the status while restarts are not allowed. @param stale the number of stale workloads */
export function restartsNotAllowed(tag: AskingTag, message: string, stale: number): RestartStatus | undefined {
  if (!wantsRestarts(tag)) return undefined;
  return { phase: 'NotAllowed', message, stale, inProgress: 0, waiting: [], untouched: [] };
}

/** Returns why the operator may not update the pods of a tag; undefined if it may. */
export function whyNotAllowed(
  { spec: { strategy } }: Pick<RevisionTag, 'spec'>,
  {
    followPods,
    restartWorkloads,
    updatePods,
  }: Pick<OperatorSettings, 'followPods' | 'restartWorkloads' | 'updatePods'>,
): string | undefined {
  if (followPods === false) return reasons.pods;
  if (isInPlace(strategy)) return updatePods === true ? undefined : reasons.updates;
  return restartWorkloads === true ? undefined : reasons.flag;
}

const reasons = {
  flag: 'this operator does not restart workloads; start it with --restart-workloads (operator.restartWorkloads: true in the chart, which also grants the permissions), or remove spec.strategy.restart and spec.strategy.rollback.restart',
  pods: 'restarts need to watch pods, which is disabled (--no-follow-pods, operator.followPods: false in the chart); enable it, or remove spec.strategy.restart and spec.strategy.rollback.restart',
  updates:
    'this operator does not update running pods; start it with --update-pods (operator.updatePods: true in the chart, which also grants the permissions), or remove spec.strategy.update',
} as const;
