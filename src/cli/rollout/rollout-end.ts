import { formatRoute } from '../../routing/route.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { isObserved, pendingAction, rolloutUnderWay } from './rollout-standing.ts';

/** How what was watched has ended. */
export interface RolloutEnd {
  /** Whether everybody gets the revision of the spec, by a promotion or because there was nothing to roll out. */
  readonly isWanted: boolean;
  /** A sentence for people. */
  readonly message: string;
}

/**
 * How the rollout of a tag has ended, and the restarts that the spec asks for with it; undefined while it goes on, or is about to begin: until the
 * operator has looked at the spec and at what was asked for, while the tag is not where its spec says without having been rolled back, and while
 * workloads are being restarted or wait for it.
 * @param wasUnderWay whether the rollout was seen while it was under way
 */
export function rolloutEnd(tag: RevisionTag, wasUnderWay: boolean): RolloutEnd | undefined {
  const end = endOfMove(tag, wasUnderWay);
  if (end === undefined || !isRestarting(tag)) return end;
  const { phase, message, path } = tag.status?.restarts ?? {};
  const said = `${end.message}; restarts: ${message ?? ''}`;
  if (phase === 'NotAllowed') return { isWanted: false, message: said };
  // What was counted before the tag moved says nothing of what is to be restarted now.
  if (path === undefined || path !== pathAtRest(tag)) return undefined;
  if (phase === 'Stopped') return { isWanted: false, message: said };
  return phase === 'Idle' ? { ...end, message: said } : undefined;
}

/** Whether the spec has workloads restarted where the tag stands now. */
function isRestarting({ spec: { strategy }, status }: RevisionTag): boolean {
  if (strategy?.restart !== undefined) return true;
  return strategy?.rollback?.restart === 'Canary' && status?.rollout?.phase === 'RolledBack';
}

/** The webhook's path once no rollout is under way. */
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
    return { isWanted: true, message: `pods get revision ${spec.revision}; the tag has no canary strategy` };
  }
  if (rollout === undefined) return undefined;
  const { phase, stable, message } = rollout;
  if (phase === 'RolledBack') return { isWanted: false, message };
  if (stable.revision !== spec.revision) return undefined;
  if (phase === 'Promoted') return { isWanted: true, message };
  if (wasUnderWay) return { isWanted: false, message: `the rollout was ended: ${message}` };
  return { isWanted: true, message: `no rollout is under way: ${message}` };
}
