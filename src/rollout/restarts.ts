import type { RestartStrategy } from '../api/rollout-strategy.ts';
import type { RestartStatus } from '../api/rollout-status.ts';
import { listedNames } from '../api/usage-status.ts';
import { RestartBounds } from './restart-bounds.ts';
import {
  doneAt,
  forgottenAt,
  isCurrent,
  isRecent,
  lateAt,
  restartedAt,
  type RestartCandidate,
  type RestartSituation,
} from './restart-candidate.ts';
import { left, longestMessage, whyNever, type Left, type Why } from './restart-reasons.ts';
import { whyStopped, withoutEffect } from './restart-stops.ts';
import { workloadKey, type RolloutWorkload } from './workload-key.ts';

/** The status says once what stops everything. */
const whileStopped: Why = { reason: 'Stopped', message: 'nothing more is restarted: see message' };

/** Workloads of a tag by what becomes of them, all of them: the lists of the status are cut. */
export interface RestartCounts {
  readonly stale: number;
  readonly restarting: number;
  readonly waiting: number;
  readonly untouched: number;
}

/** What to restart now. */
export interface RestartPlan {
  /** In the order in which to write them; each with {@link RestartCandidate.target} as its annotation. */
  readonly restart: readonly RestartCandidate[];
  /** What is worth saying, for `status.restarts`. */
  readonly status: RestartStatus;
  readonly counts: RestartCounts;
  /** Why nothing more is restarted: `Late`, `Crashing`, `NotInjected` or `NoEffect`. */
  readonly stopped: readonly Left[];
  /** When time alone may change something. Milliseconds since 1970. */
  readonly at: number | undefined;
}

/**
 * Which workloads with stale pods to restart now for one tag. The bounds count every workload that was restarted, for whatever tag and whoever of the
 * leaders restarted it, and is not complete yet: all that is remembered is the annotation on the pod template. A workload is restarted once for one
 * target. Nothing is restarted while one that was restarted for what is current is not complete in time or has new pods that crash, and none whose
 * PodDisruptionBudget allows no disruption or that is not complete itself. Where we are to blame for that, because it is being restarted for another
 * target, its new pods crash, or it has a canary that was rolled back, it is restarted all the same, and first: its own pods that are not ready use
 * up the budget, and a restart is what helps them. The order is that of namespace, kind and name.
 */
export function planRestarts({ own, others }: RestartSituation, bounds: RestartStrategy, now: number): RestartPlan {
  const sorted = inOrder(own);
  const taken = new Set(others.map(workloadKey));
  const latest = new Set(sorted.filter((each) => isRecent(restartedAt(each), now) && !taken.has(workloadKey(each))));
  const inProgress = new Set([...latest].filter((each) => doneAt(restartedAt(each), each, bounds, now) > now));
  const elsewhere = others.filter((each) => isRecent(each.at, now) && doneAt(each.at, each, bounds, now) > now);
  const running = new RestartBounds(bounds, [...elsewhere, ...inProgress]);
  const current = [...latest].filter(isCurrent);
  const worse = current.flatMap((each) => whyStopped(each, bounds, inProgress.has(each), now));
  const isBlamed = (each: RestartCandidate): boolean => {
    const isOurs = latest.has(each) && (inProgress.has(each) || (each.crashing ?? 0) > 0);
    return each.completeSince === undefined && (isOurs || each.rolledBack === true);
  };

  const stale = sorted.filter((each) => each.stale > 0);
  const toDo = stale.filter((each) => !(isCurrent(each) && inProgress.has(each)));
  const untouched: Left[] = [];
  const able: RestartCandidate[] = [];
  for (const candidate of toDo) {
    const never = whyNever(candidate);
    if (never === undefined) able.push(candidate);
    else untouched.push(left(candidate, never));
  }
  const isIdle = able.length === 0;
  const stopped = worse.length > 0 || isIdle ? worse : withoutEffect(current.filter((each) => !inProgress.has(each)));
  const delayed: Left[] = [];
  const restart: RestartCandidate[] = [];
  const blamed = new Set(able.filter(isBlamed));
  for (const candidate of [...blamed, ...able.filter((each) => !blamed.has(each))]) {
    const notNow = stopped.length > 0 ? whileStopped : whyNotNow(candidate, running, blamed.has(candidate));
    if (notNow === undefined) {
      restart.push(candidate);
      running.add(candidate);
    } else {
      delayed.push(left(candidate, notNow));
    }
  }
  const waiting = inOrder(delayed);

  const restarting = new Set([...inProgress, ...restart].map(workloadKey)).size;
  const moments = [
    ...[...inProgress].flatMap((each) => {
      const at = restartedAt(each);
      return [lateAt(at, each, bounds), doneAt(at, each, bounds, now), forgottenAt(at)];
    }),
    ...elsewhere.flatMap((each) => [doneAt(each.at, each, bounds, now), forgottenAt(each.at)]),
  ].filter((time) => time > now && time < Infinity);
  return {
    restart,
    status: {
      ...phaseOf({ stopped, waiting, restarting, untouched }),
      stale: stale.length,
      inProgress: restarting,
      waiting: waiting.slice(0, listedNames),
      untouched: untouched.slice(0, listedNames),
    },
    counts: { stale: stale.length, restarting, waiting: waiting.length, untouched: untouched.length },
    stopped,
    at: moments.length === 0 ? undefined : Math.min(...moments),
  };
}

/** @param isBlamed whether it is our doing that it is not complete */
function whyNotNow(candidate: RestartCandidate, running: RestartBounds, isBlamed: boolean): Why | undefined {
  if (candidate.hold !== undefined) return candidate.hold;
  const tag = running.otherTag(candidate);
  if (tag !== undefined) return { reason: 'OtherTag', message: `it is being restarted for RevisionTag ${tag}` };
  if (!isBlamed) {
    const budget = running.exhausted(candidate);
    if (budget !== undefined) {
      return { reason: 'Budget', message: `PodDisruptionBudget ${budget} allows no disruption now` };
    }
    if (candidate.completeSince === undefined) {
      return { reason: 'NotComplete', message: 'not all of its pods are ready and of its present template' };
    }
  }
  // One that is restarting already, for another target, takes nothing more away.
  const bound = running.has(candidate) ? undefined : running.reached(candidate.namespace);
  return bound === undefined ? undefined : { reason: 'Bound', message: bound };
}

/** The first three of those that stop everything, each kind of trouble with a sentence. */
function inWords(stopped: readonly Left[]): string {
  const names = stopped.slice(0, 3).map((each) => `${workloadKey(each)}: ${each.message}`);
  return `${names.join('; ')}${stopped.length > 3 ? `; and ${stopped.length - 3} more` : ''}`;
}

function phaseOf(found: Parameters<typeof inPhase>[0]): Pick<RestartStatus, 'phase' | 'message'> {
  const { phase, message } = inPhase(found);
  return { phase, message: message.slice(0, longestMessage) };
}

function inPhase({
  stopped,
  waiting,
  restarting,
  untouched,
}: {
  readonly stopped: readonly Left[];
  readonly waiting: readonly Left[];
  readonly restarting: number;
  readonly untouched: readonly Left[];
}): Pick<RestartStatus, 'phase' | 'message'> {
  if (stopped.length > 0) return { phase: 'Stopped', message: `nothing more is restarted: ${inWords(stopped)}` };
  if (restarting > 0) return { phase: 'Restarting', message: `${restarting} restarting, ${waiting.length} to come` };
  const [first] = waiting;
  if (first !== undefined)
    return { phase: 'Waiting', message: `${waiting.length} wait; ${workloadKey(first)}: ${first.message}` };
  const others = untouched.length === 0 ? '' : `; ${untouched.length} are for somebody else to restart`;
  return { phase: 'Idle', message: `nothing to restart${others}` };
}

/** By namespace, kind and name. */
function inOrder<T extends RolloutWorkload>(workloads: readonly T[]): T[] {
  const keys = new Map(workloads.map((each) => [each, workloadKey(each)]));
  return [...workloads].sort((one, other) => ((keys.get(one) ?? '') < (keys.get(other) ?? '') ? -1 : 1));
}
