import type { RevisionTag, RolloutPodCounts, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { readinessOf } from '../usage/readiness.ts';
import { restartLine, restartsOf } from './restart-lines.ts';
import { afterRollback, pendingAction, rolloutUnderWay } from './rollout-standing.ts';
import { oneLine } from './wrap.ts';

/** Returns the JSON record of a change. Fields of spec and status keep their names. */
export function rolloutRecord(tag: RevisionTag): object {
  const { metadata, spec, status } = tag;
  const { ready, reason, message } = readinessOf(tag);
  const restarts = restartsOf(tag);
  return {
    tag: metadata.name,
    revision: spec.revision,
    ...(status?.stableRevision === undefined ? {} : { stableRevision: status.stableRevision }),
    ready: { status: ready, reason, message },
    steps: spec.strategy?.canary?.steps ?? [],
    ...(status?.rollout === undefined ? {} : { rollout: status.rollout }),
    ...(restarts === undefined ? {} : { restarts }),
  };
}

/** Formats the state of a rollout in one line. */
export function rolloutLine(tag: RevisionTag): string {
  const underWay = rolloutUnderWay(tag);
  const restarts = restartLine(tag);
  const parts = [
    phaseOf(tag),
    ...(underWay === undefined ? [] : [`step ${stepOf(tag)}, ${shareOf(underWay)}`, healthOf(underWay)]),
  ];
  const news = [newsOf(tag), afterRollback(tag), restarts].filter((each) => each !== undefined);
  return oneLine(`${parts.join(', ')}: ${news.join('; ')}`);
}

/** Returns the phase of the rollout; if there is no rollout, `Ready` or `Waiting`. */
export function phaseOf(tag: RevisionTag): string {
  return tag.status?.rollout?.phase ?? (isReadyWithoutSteps(tag) ? 'Ready' : 'Waiting');
}

/** Reports whether a tag without steps has the revision of its spec. */
function isReadyWithoutSteps(tag: RevisionTag): boolean {
  return tag.spec.strategy?.canary === undefined && readinessOf(tag).ready;
}

/** Formats `2 of 5`. */
export function stepOf(tag: RevisionTag): string {
  const { step } = rolloutUnderWay(tag) ?? { step: 0 };
  const { length } = tag.spec.strategy?.canary?.steps ?? [];
  return `${step + 1} of ${Math.max(length, step + 1)}`;
}

/** Formats `25 % = 53 of 212 workloads`. */
export function shareOf({ shadow, weight, canaryWorkloads, knownWorkloads }: RolloutState): string {
  return shadow ? 'shadow' : `${weight} % = ${canaryWorkloads} of ${knownWorkloads} workloads`;
}

function healthOf({ shadow, shadowReport, pods }: RolloutState): string {
  if (!shadow) return `canary ${podsOf(pods.canary)}, stable ${podsOf(pods.stable)}`;
  const { compared = 0, failed = 0, differing = 0 } = shadowReport ?? {};
  return `${compared} pods compared, ${failed} failed, ${differing} differ`;
}

/** Formats `11 of 12 pods ready, 1 failing`. */
export function podsOf({ ready, failing, total }: RolloutPodCounts): string {
  return `${ready} of ${total} pods ready, ${failing} failing`;
}

/** Returns the message of the rollout, or why it has not begun. */
export function newsOf(tag: RevisionTag): string {
  const rollout = tag.status?.rollout;
  const pending = pendingAction(tag);
  const waiting = pending === undefined ? '' : `; ${pending.verb} was requested, but the operator has not answered yet`;
  const obstacle = obstacleOf(tag);
  const standing = rollout?.message ?? (isReadyWithoutSteps(tag) ? readinessOf(tag).message : undefined);
  const news = obstacle?.isBefore === true ? undefined : standing;
  return `${[news, obstacle?.message].filter((part) => part !== undefined).join('; ') || 'no message'}${waiting}`;
}

/** Returns the problem in the conditions: the rollout cannot begin, or the webhook has an error. */
function obstacleOf(tag: RevisionTag): { isBefore: boolean; message: string } | undefined {
  const { ready, reason, message } = readinessOf(tag);
  const rollout = tag.status?.rollout;
  // A condition whose reason is the phase repeats the message of the rollout.
  if (ready || reason === rollout?.phase) return undefined;
  const isResting = rolloutUnderWay(tag) === undefined && rollout?.phase !== 'RolledBack';
  return { isBefore: isResting, message: `${reason}: ${message}` };
}
