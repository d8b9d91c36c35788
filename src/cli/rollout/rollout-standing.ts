import { commandLine } from '../../api/command-line.ts';
import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import {
  parseRolloutAction,
  rolloutActionAnnotation,
  type RolloutAction,
} from '../../api/revision-tag/rollout-action.ts';

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
