import { commandLine } from '../../api/command-line.ts';
import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import {
  parseRolloutAction,
  rolloutActionAnnotation,
  type RolloutAction,
} from '../../api/revision-tag/rollout-action.ts';
import { formatRoute } from '../../routing/route.ts';

/** A rollout in progress, with stable and canary. */
export type RolloutUnderWay = RolloutState & Required<Pick<RolloutState, 'canary' | 'step'>>;

/** Returns the rollout in progress, if there is one. */
export function rolloutUnderWay({ status }: Pick<RevisionTag, 'status'>): RolloutUnderWay | undefined {
  const { canary, step } = status?.rollout ?? {};
  return canary === undefined || step === undefined ? undefined : (status?.rollout as RolloutUnderWay);
}

/** Returns advice after a rollback; undefined if there was no rollback, or after a new request. */
export function afterRollback(tag: RevisionTag): string | undefined {
  const { name } = tag.metadata;
  const { phase, stable } = tag.status?.rollout ?? {};
  if (phase !== 'RolledBack' || stable === undefined || !isObserved(tag) || pendingAction(tag)) return undefined;
  const giveUp = commandLine`injector tag set ${name} -r ${stable.revision} --overwrite`;
  return `use \`${commandLine`injector tag retry ${name}`}\` to start the rollout again, or \`${giveUp}\` to give up`;
}

/** Returns the stable revision if the spec has another, or what the last promotion replaced. */
export function earlierRevision({ spec, status }: Pick<RevisionTag, 'spec' | 'status'>): string | undefined {
  const { rollout } = status ?? {};
  const stable = rollout?.stable.revision ?? status?.stableRevision;
  if (stable !== undefined && stable !== spec.revision) return stable;
  // Only the message of a promotion names the revision before.
  return rollout?.phase === 'Promoted' ? / in place of (\S+): /.exec(rollout.message)?.[1] : undefined;
}

/** Reports whether the operator has reconciled the current spec. */
export function isObserved({ metadata, status }: RevisionTag): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Returns the action that the operator has not answered yet; ignores an invalid action. */
export function pendingAction({ metadata, status }: RevisionTag): RolloutAction | undefined {
  const value = metadata.annotations?.[rolloutActionAnnotation];
  if (value === undefined) return undefined;
  const answer = status?.rollout?.action;
  try {
    const action = parseRolloutAction(value);
    return answer?.nonce === action.nonce && answer.verb === action.verb ? undefined : action;
  } catch {
    return undefined;
  }
}

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
