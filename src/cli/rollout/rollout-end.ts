import { formatRoute } from '../../routing/route.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { isObserved, pendingAction, rolloutUnderWay } from './rollout-standing.ts';

/** The end of a watched rollout. */
export interface RolloutEnd {
  /** Whether all pods get the revision of the spec. */
  readonly isSuccess: boolean;
  readonly message: string;
}

/**
 * Returns the result after a tag's rollout and the requested restarts have ended. Returns undefined
 * until the operator has reconciled the spec and answered the action, while the tag is neither at
 * its target nor rolled back, and while workloads restart or wait.
 * @param wasUnderWay whether the rollout was seen in progress
 */
export function rolloutEnd(tag: RevisionTag, wasUnderWay: boolean): RolloutEnd | undefined {
  const end = endOfMove(tag, wasUnderWay);
  if (end === undefined || !isRestarting(tag)) return end;
  const { phase, message, path } = tag.status?.restarts ?? {};
  const withRestarts = `${end.message}; restarts: ${message ?? ''}`;
  if (phase === 'NotAllowed') return { isSuccess: false, message: withRestarts };
  // Counts from before a move say nothing about current restarts.
  if (path === undefined || path !== pathAtRest(tag)) return undefined;
  if (phase === 'Stopped') return { isSuccess: false, message: withRestarts };
  return phase === 'Idle' ? { ...end, message: withRestarts } : undefined;
}

/** Reports whether the spec requests restarts in the current phase. */
function isRestarting({ spec: { strategy }, status }: RevisionTag): boolean {
  if (strategy?.restart !== undefined) return true;
  return strategy?.rollback?.restart === 'Canary' && status?.rollout?.phase === 'RolledBack';
}

/** Returns the webhook's path after the rollout. */
function pathAtRest({ metadata, status }: RevisionTag): string {
  const { injectorConfig = '', hash = '' } = status ?? {};
  return formatRoute({ tag: metadata.name, stable: { injectorConfig, hash } });
}

function endOfMove(tag: RevisionTag, wasUnderWay: boolean): RolloutEnd | undefined {
  const { spec, status } = tag;
  if (!isObserved(tag) || pendingAction(tag) !== undefined || rolloutUnderWay(tag) !== undefined) return undefined;
  const rollout = status?.rollout;
  if (spec.strategy?.canary === undefined) {
    if (status?.stableRevision !== spec.revision) return undefined;
    return { isSuccess: true, message: `pods get revision ${spec.revision}; the tag has no canary strategy` };
  }
  if (rollout === undefined) return undefined;
  const { phase, stable, message } = rollout;
  if (phase === 'RolledBack') return { isSuccess: false, message };
  if (stable.revision !== spec.revision) return undefined;
  if (phase === 'Promoted') return { isSuccess: true, message };
  if (wasUnderWay) return { isSuccess: false, message: `the rollout was ended: ${message}` };
  return { isSuccess: true, message: `no rollout is under way: ${message}` };
}
