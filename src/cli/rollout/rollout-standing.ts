import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import {
  parseRolloutAction,
  rolloutActionAnnotation,
  type RolloutAction,
} from '../../api/revision-tag/rollout-action.ts';

/** A rollout under way: two revisions are in force. */
export type RolloutUnderWay = RolloutState & Required<Pick<RolloutState, 'canary' | 'step'>>;

/** The rollout of a tag that is under way; undefined at rest. */
export function rolloutUnderWay({ status }: Pick<RevisionTag, 'status'>): RolloutUnderWay | undefined {
  const { canary, step } = status?.rollout ?? {};
  return canary === undefined || step === undefined ? undefined : (status?.rollout as RolloutUnderWay);
}

/** The commands that come next after a rollback; undefined where there was none, or where somebody has asked for something since. */
export function afterRollback(tag: RevisionTag): string | undefined {
  const { name } = tag.metadata;
  const { phase, stable } = tag.status?.rollout ?? {};
  if (phase !== 'RolledBack' || stable === undefined || !isObserved(tag) || pendingAction(tag)) return undefined;
  return `\`injector tag retry ${name}\` begins again, \`injector tag set ${name} -r ${stable.revision} --overwrite\` gives it up`;
}

/** Whether the status is that of the spec as it is now. */
export function isObserved({ metadata, status }: RevisionTag): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** What was asked for by annotation and not answered yet. What cannot be read is answered by the operator, and counts as nothing here. */
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
