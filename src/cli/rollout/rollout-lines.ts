import { commandLine } from '../../api/command-line.ts';
import type { StepMark } from '../../api/dashboard-reports.ts';
import {
  type RestartStatus,
  type RevisionTag,
  type RolloutPodCounts,
  type RolloutState,
  rolloutStatusSchema,
} from '../../api/revision-tag/revision-tag.ts';
import { attemptOf } from '../../rollout/actions.ts';
import { wantsRestarts } from '../../operator/restarts/restart-source.ts';
import { cutLine, oneLine, plural, wrap } from '../report/write-report.ts';
import { readinessOf } from '../usage/operator-health.ts';
import { afterRollback, pendingAction, rolloutUnderWay } from './rollout-standing.ts';

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

/** Returns what speaks against promoting a canary that was rolled back, unless it has evidence. */
export function rollbackEvidence(tag: RevisionTag): string[] {
  const { revision } = tag.spec;
  const rollout = tag.status?.rollout;
  if (rollout === undefined) return [];
  const { phase, reason, action, canary, rolledBackFrom, knownWorkloads } = rollout;
  if (phase === 'RolledBack' && rolledBackFrom?.revision === revision) {
    const effect = `promote starts the rollout again, and gives revision ${revision} to all ${plural(knownWorkloads, 'workload')} without new evidence`;
    return [rolloutLine(tag), `pods now: ${healthOf(rollout)}`, effect];
  }
  const isThis = canary !== undefined && action?.message.startsWith(attemptOf(canary)) === true;
  const isRetried = isThis && action.verb === 'retry' && action.state === 'Done' && phase !== 'Paused';
  if (rolloutUnderWay(tag) === undefined || !(isRetried || reason === 'EarlierPodsFailing')) return [];
  const why = commandLine`kubectl describe revisiontag ${tag.metadata.name}`;
  const before = `revision ${revision} was rolled back before this attempt; if its Event still exists, \`${why}\` shows why`;
  return [before, rolloutLine(tag)];
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

/** Returns the state of each step. */
export function stepMarks(tag: RevisionTag): StepMark[] {
  const steps = tag.spec.strategy?.canary?.steps ?? [];
  const { phase, stable, step: at } = tag.status?.rollout ?? {};
  const isPromoted = phase === 'Promoted' && stable?.revision === tag.spec.revision;
  const done = at ?? (isPromoted ? steps.length : 0);
  const others = isPromoted ? 'skipped' : 'coming';
  const current = rolloutUnderWay(tag) === undefined ? others : 'current';
  const present = phase === 'RolledBack' ? 'rolledBack' : current;
  return steps.map((_, index) => (index < done ? 'done' : index === done ? present : others));
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
  // A condition whose reason is a phase repeats the rollout, or an earlier state of it.
  if (ready || rolloutStatusSchema.shape.phase.safeParse(reason).success) return undefined;
  const isResting = rolloutUnderWay(tag) === undefined && rollout?.phase !== 'RolledBack';
  return { isBefore: isResting, message: `${reason}: ${message}` };
}

/** The maximum number of workloads that a drawing shows from each list. */
const shownWorkloads = 3;
/** The maximum number of lines of the message. */
const longestMessage = 2;
const indent = ' '.repeat(9);

/** Formats `restarts Waiting, 12 workloads stale, 0 restarting: …`; undefined if there are none. */
export function restartLine(tag: RevisionTag): string | undefined {
  const restarts = restartsOf(tag);
  if (restarts === undefined) return undefined;
  const expected = expectedOf(restarts).map((each) => `; ${each}`);
  return `restarts ${standingOf(restarts, ', ')}: ${restarts.message}${expected.join('')}`;
}

/**
 * Draws restarts: counts, message, and the first waiting and skipped workloads.
 * @param room the maximum number of lines without the final empty line; at least one is drawn
 */
export function drawRestarts(tag: RevisionTag, columns: number, room: number): string[] {
  const restarts = restartsOf(tag);
  if (restarts === undefined) return [];
  const { message, waiting, untouched } = restarts;
  const lines = [
    `restarts ${standingOf(restarts, ': ')}`,
    ...[message, ...expectedOf(restarts)].flatMap((text) =>
      wrap(text, columns - indent.length, longestMessage).map((line) => `${indent}${line}`),
    ),
    ...drawWorkloads('waits', waiting, columns),
    ...drawWorkloads('skips', untouched, columns),
  ];
  return [...lines.slice(0, Math.max(1, room)), ''];
}

/** Says how the stale workloads will be updated, if the spec requests updates in place. */
function expectedOf({ stale, inPlace }: RestartStatus): string[] {
  if (inPlace === undefined || stale === 0) return [];
  const { workloads, byRestart, notCompared, obstacle } = inPlace;
  const unknown = notCompared === 0 ? '' : `, ${notCompared} not compared yet`;
  const why = obstacle === undefined ? '' : `: ${obstacle}`;
  return [`${workloads} in place, ${byRestart} by restart${unknown}${why}`];
}

/** Returns the status of restarts, while the spec requests them. */
export function restartsOf(tag: RevisionTag): RestartStatus | undefined {
  return wantsRestarts(tag) ? tag.status?.restarts : undefined;
}

/** Formats the phase and, if the operator has counted workloads, the counts. */
function standingOf({ phase, stale, inProgress, path }: RestartStatus, separator: string): string {
  const isCounted = path !== undefined || stale + inProgress > 0;
  return isCounted ? `${phase}${separator}${plural(stale, 'workload')} stale, ${inProgress} restarting` : phase;
}

function drawWorkloads(word: string, workloads: RestartStatus['waiting'], columns: number): string[] {
  return workloads
    .slice(0, shownWorkloads)
    .map(({ namespace, kind, name, message }) =>
      cutLine(`${indent}${word.padEnd(5)} ${oneLine(`${namespace}/${kind}/${name}: ${message}`)}`, columns),
    );
}
