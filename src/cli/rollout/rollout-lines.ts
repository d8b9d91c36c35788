import type { RevisionTag, PodCounts, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { readinessOf } from '../usage/readiness.ts';
import { restartLine, restartsOf } from './restart-lines.ts';
import { afterRollback, pendingAction, rolloutUnderWay } from './rollout-standing.ts';
import { oneLine } from './wrap.ts';

/** What a program is told of a rollout, one JSON line a change: the fields of spec and status under their own names. */
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

/** What a person is told of a rollout in one line. */
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

/** The phase of a rollout; without one `Ready` once the tag is where its spec says, and until then `Waiting`. */
export function phaseOf(tag: RevisionTag): string {
  return tag.status?.rollout?.phase ?? (isThereAtOnce(tag) ? 'Ready' : 'Waiting');
}

/** Of a tag without steps: whether pods get the revision of the spec. */
function isThereAtOnce(tag: RevisionTag): boolean {
  return tag.spec.strategy?.canary === undefined && readinessOf(tag).ready;
}

/** `2 of 5`. */
export function stepOf(tag: RevisionTag): string {
  const { step } = rolloutUnderWay(tag) ?? { step: 0 };
  const { length } = tag.spec.strategy?.canary?.steps ?? [];
  return `${step + 1} of ${Math.max(length, step + 1)}`;
}

/** `25 % = 53 of 212 workloads`. */
export function shareOf({ shadow, weight, canaryWorkloads, knownWorkloads }: RolloutState): string {
  return shadow ? 'shadow' : `${weight} % = ${canaryWorkloads} of ${knownWorkloads} workloads`;
}

function healthOf({ shadow, shadowReport, pods }: RolloutState): string {
  if (!shadow) return `canary ${podsOf(pods.canary)}, stable ${podsOf(pods.stable)}`;
  const { compared = 0, failed = 0, differing = 0 } = shadowReport ?? {};
  return `${compared} pods compared, ${failed} failed, ${differing} differ`;
}

/** `11 of 12 pods ready, 1 failing`. */
export function podsOf({ ready, failing, total }: PodCounts): string {
  return `${ready} of ${total} pods ready, ${failing} failing`;
}

/** What there is to say: of the rollout, or why there is none although the tag is not where its spec says. */
export function newsOf(tag: RevisionTag): string {
  const rollout = tag.status?.rollout;
  const asked = pendingAction(tag);
  const waiting = asked === undefined ? '' : `; ${asked.verb} was asked for, and is not answered yet`;
  const obstacle = obstacleOf(tag);
  const standing = rollout?.message ?? (isThereAtOnce(tag) ? readinessOf(tag).message : undefined);
  const news = obstacle?.isBefore === true ? undefined : standing;
  return `${[news, obstacle?.message].filter((part) => part !== undefined).join('; ') || 'nothing to tell'}${waiting}`;
}

/** What the conditions say beside the rollout: that it cannot begin, or that something is wrong with the webhook. */
function obstacleOf(tag: RevisionTag): { isBefore: boolean; message: string } | undefined {
  const { ready, reason, message } = readinessOf(tag);
  const rollout = tag.status?.rollout;
  // A condition whose reason is the phase says what the rollout says.
  if (ready || reason === rollout?.phase) return undefined;
  const isResting = rolloutUnderWay(tag) === undefined && rollout?.phase !== 'RolledBack';
  return { isBefore: isResting, message: `${reason}: ${message}` };
}
