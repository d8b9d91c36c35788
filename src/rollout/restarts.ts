import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RestartStatus } from '../api/revision-tag/revision-tag.ts';
import { listedNames } from '../api/injector-config/usage-status.ts';
import { FairShares } from './fair-shares.ts';
import type { Refusal } from './observation.ts';
import { blamedRefusals, type RefusedShare } from './refusals.ts';
import { RestartBounds } from './restart-bounds.ts';
import {
  doneAt,
  forgottenAt,
  isCurrent,
  isRecent,
  lateAt,
  type OtherRestart,
  type RestartCandidate,
  restartedAt,
  type RestartSituation,
} from './restart-candidate.ts';
import { notRestarted, type NotRestarted, longestMessage, type Why, whyNever } from './restart-reasons.ts';
import { whenOpen } from './update-windows.ts';
import { forEach, type Steps } from '../steps/steps.ts';
import { workloadKey } from '../routing/workload-key.ts';

/** The message of the whole status explains the stop. */
const whileStopped: Why = { reason: 'Stopped', message: 'restarts are stopped: see status.restarts.message' };
/** The reason while a restart is planned. The write may still fail. */
const planned: Why = { reason: 'Next', message: 'it is restarted next' };

/** The number of workloads of a tag in each state, even if the lists in the status are cut. */
export interface RestartCounts {
  readonly stale: number;
  readonly restarting: number;
  readonly waiting: number;
  /** The number of waiting workloads whose writes fail or are refused. */
  readonly failing: number;
  readonly untouched: number;
}

/** The restarts that are due now. */
export interface RestartPlan {
  /** The workloads in the order of writing. Each annotation names the candidate's `target`. */
  readonly restart: readonly RestartCandidate[];
  /** `status.restarts` before any of these restarts is written. */
  readonly status: RestartStatus;
  readonly counts: RestartCounts;
  /** When the next pass is due if nothing else changes, in milliseconds since 1970. */
  readonly at: number | undefined;
}

/**
 * Plans the restarts of workloads with stale pods for one tag. A workload is restarted once per
 * target. All state is in the annotations on pod templates: the bounds count every workload that
 * any leader restarted for any tag and that is not complete yet. All restarts stop while a workload
 * that was restarted for its current target is late, or has new pods that crash or are refused
 * ({@link blamedRefusals}). A workload that is
 * incomplete, or whose PodDisruptionBudget allows no disruption, waits. Exception: if the operator
 * made it incomplete (by a restart for another target, by a restart whose new pods crash, or by a
 * canary that was rolled back), it is restarted first, because its unready pods use up the budget.
 * Such a workload does not wait for a window, either; all others do.
 * Namespaces take turns, so that no author delays others; in a namespace, the order is by kind and
 * name. Workloads in namespaces with many failures come last.
 */
export function* planRestarts(situation: RestartSituation, bounds: RestartStrategy, now: number): Steps<RestartPlan> {
  const { others, uncertain = [], opensAt, shares = new FairShares() } = situation;
  // Sorting ten thousand workloads takes only 3 ms, so this is one step.
  const sorted = [...situation.own].sort((one, other) => (one.key < other.key ? -1 : 1));
  const { latest, inProgress, elsewhere } = yield* underWay(sorted, others, bounds, now);
  const running = new RestartBounds(bounds, [...uncertain, ...elsewhere, ...inProgress]);
  const refused = refusedRestarts(sorted, inProgress);
  const worse: string[] = [];
  const done: RestartCandidate[] = [];
  yield* forEach(latest, (each) => {
    if (!isCurrent(each)) return;
    const isCounted = each.refused !== undefined && refused.has(each.refused);
    const problem = problemOf(each, bounds, { isInProgress: inProgress.has(each), isCounted }, now);
    if (problem !== undefined) worse.push(`${each.key}: ${problem}`);
    // An update in place leaves no record in the pod template, so the restart may be an older one.
    if (!inProgress.has(each) && each.isInPlace !== true) done.push(each);
  });

  // A failure stops the tag until the pod is replaced, or its annotation or the target changes.
  yield* forEach(sorted, ({ key, updateFailed }) => {
    if (updateFailed !== undefined) worse.push(`${key}: ${updateFailed}`);
  });

  let [stale, missing] = [0, 0];
  const untouched: NotRestarted[] = [];
  const able: RestartCandidate[] = [];
  yield* forEach(sorted, (candidate) => {
    if (candidate.stale === 0) return;
    stale += 1;
    if ((candidate.missing ?? 0) > 0) missing += 1;
    if (isUpdating(candidate) || (isCurrent(candidate) && inProgress.has(candidate))) return;
    const never = whyNever(candidate);
    if (never === undefined) able.push(candidate);
    else untouched.push(notRestarted(candidate, never));
  });
  const isIdle = able.length === 0;
  const stopped = worse.length > 0 || isIdle ? worse : withoutEffect(done);
  const isBlamed = (each: RestartCandidate): boolean => {
    const isOurs = latest.has(each) && (inProgress.has(each) || (each.crashing ?? 0) > 0);
    return each.completeSince === undefined && (isOurs || each.rolledBack === true);
  };
  const turns: readonly RestartCandidate[][] = [[], [], []];
  yield* forEach(able, (each) => turns[isBlamed(each) ? 0 : each.isDeferred === true ? 2 : 1]?.push(each));
  const restart: RestartCandidate[] = [];
  const delayed = new Map<RestartCandidate, Why>();
  const next = shares.copy();
  for (const [turn, candidates] of turns.entries()) {
    yield* forEach(
      next.inTurns(candidates, ({ namespace }) => namespace),
      (candidate) => {
        const notNow = stopped.length > 0 ? whileStopped : whyNotNow(candidate, running, opensAt, turn === 0);
        delayed.set(candidate, notNow ?? planned);
        if (notNow !== undefined) return;
        restart.push(candidate);
        running.add(candidate);
        next.serve(candidate.namespace);
      },
    );
  }
  const waiting: NotRestarted[] = [];
  let failing = 0;
  yield* forEach(able, (each) => {
    const why = delayed.get(each);
    if (why !== undefined && waiting.length < listedNames) waiting.push(notRestarted(each, why));
    if (each.hold?.isFailure === true) failing += 1;
  });
  const counts = { stale, restarting: inProgress.size, waiting: able.length, failing, untouched: untouched.length };
  return {
    restart,
    status: {
      ...phaseOf(stopped, waiting[0] ?? untouched[0], counts),
      stale,
      ...(bounds.missing && { missing }),
      inProgress: counts.restarting,
      waiting,
      untouched: untouched.slice(0, listedNames),
    },
    counts,
    at: nextMoment(inProgress, elsewhere, opensAt, bounds, now),
  };
}

/** Returns the recent restarts for this tag, and the restarts in progress for any tag. */
function* underWay(
  sorted: readonly RestartCandidate[],
  others: readonly OtherRestart[],
  bounds: RestartStrategy,
  now: number,
) {
  const taken = new Set<string>();
  const elsewhere: OtherRestart[] = [];
  yield* forEach(others, (each) => {
    taken.add(each.key);
    if (isRecent(each.at, now) && doneAt(each.at, each, bounds, now) > now) elsewhere.push(each);
  });
  const latest = new Set<RestartCandidate>();
  const inProgress = new Set<RestartCandidate>();
  yield* forEach(sorted, (each) => {
    if (isUpdating(each)) inProgress.add(each);
    const at = restartedAt(each);
    if (!isRecent(at, now) || taken.has(each.key)) return;
    latest.add(each);
    if (doneAt(at, each, bounds, now) > now) inProgress.add(each);
  });
  return { latest, inProgress, elsewhere };
}

/** Reports whether a pod of the workload is being updated in place. */
function isUpdating({ updating = 0 }: RestartCandidate): boolean {
  return updating > 0;
}

/** Returns the next time at which the plan changes if nothing else changes. */
function nextMoment(
  inProgress: Iterable<RestartCandidate>,
  elsewhere: readonly OtherRestart[],
  opensAt: number | undefined,
  bounds: RestartStrategy,
  now: number,
): number | undefined {
  let next = Infinity;
  const consider = (...moments: readonly number[]): void => {
    for (const moment of moments) if (moment > now) next = Math.min(next, moment);
  };
  for (const each of inProgress) {
    const at = restartedAt(each);
    consider(lateAt(at, each, bounds), doneAt(at, each, bounds, now), forgottenAt(at));
  }
  for (const each of elsewhere) consider(doneAt(each.at, each, bounds, now), forgottenAt(each.at));
  if (opensAt !== undefined) consider(opensAt);
  return next === Infinity ? undefined : next;
}

/** @param isBlamed whether the operator made the workload incomplete */
function whyNotNow(
  candidate: RestartCandidate,
  running: RestartBounds,
  opensAt: number | undefined,
  isBlamed: boolean,
): Why | undefined {
  if (candidate.hold !== undefined) return candidate.hold;
  const tag = running.otherTag(candidate);
  if (tag !== undefined) return { reason: 'OtherTag', message: `it is being restarted for RevisionTag ${tag}` };
  if (!isBlamed) {
    if (opensAt !== undefined) return { reason: 'Window', message: whenOpen(opensAt) };
    const budget = running.exhausted(candidate);
    if (budget !== undefined)
      return { reason: 'Budget', message: `PodDisruptionBudget ${budget} allows no disruption now` };
    if (candidate.completeSince === undefined) {
      return { reason: 'NotComplete', message: 'not all of its pods are ready and up to date with its pod template' };
    }
  }
  // A workload that is already restarting for another target counts only once.
  const bound = running.has(candidate) ? undefined : running.reached(candidate.namespace);
  return bound === undefined ? undefined : { reason: 'Bound', message: bound };
}

/** @param first the first waiting workload, or else the first that is never restarted */
function phaseOf(
  stopped: readonly string[],
  first: NotRestarted | undefined,
  { restarting, waiting, untouched }: RestartCounts,
): Pick<RestartStatus, 'phase' | 'message'> {
  const withMessage = (phase: RestartStatus['phase'], message: string) => {
    return { phase, message: message.slice(0, longestMessage) };
  };
  if (stopped.length > 0) {
    const more = stopped.length > 3 ? `; and ${stopped.length - 3} more` : '';
    return withMessage('Stopped', `restarts are stopped: ${stopped.slice(0, 3).join('; ')}${more}`);
  }
  if (restarting > 0) return withMessage('Restarting', `${restarting} restarting, ${waiting} to come`);
  if (first === undefined) return withMessage('Idle', 'nothing to restart');
  const example = `${workloadKey(first)}: ${first.message}`;
  if (waiting > 0) return withMessage('Waiting', `${waiting} waiting; ${example}`);
  return withMessage(
    'Idle',
    `nothing to restart; the operator does not restart ${untouched} workloads, for example ${example}`,
  );
}

/** The number of restarts without effect after which all restarts stop. */
const withoutEffectLimit = 3;

/** Returns what is wrong with a workload that was restarted for the current target. */
function problemOf(
  candidate: RestartCandidate,
  bounds: RestartStrategy,
  { isInProgress, isCounted }: { readonly isInProgress: boolean; readonly isCounted: boolean },
  now: number,
): string | undefined {
  const { crashing = 0, uninjected = 0, completeSince, refused } = candidate;
  if (crashing > 0) return `restarted, but ${crashing} of its new pods crash`;
  if (uninjected > 0)
    return `restarted, but ${uninjected} of its new pods have no sidecar: find out why, then recreate them`;
  const refusal = refused && `its new pods are refused (${refused.object}): ${refused.message}`;
  if (isCounted) return `restarted, but ${refusal ?? ''}`;
  const isRestarting = isInProgress && completeSince === undefined && !isUpdating(candidate);
  const isLate = isRestarting && lateAt(restartedAt(candidate), candidate, bounds) <= now;
  const why = refusal === undefined ? '' : `: ${refusal}`;
  return isLate ? `restarted, but not complete within readyTimeout${why}` : undefined;
}

/** Returns the refusals of restarted workloads that stop all restarts, as in a rollout. */
function refusedRestarts(
  own: readonly RestartCandidate[],
  inProgress: ReadonlySet<RestartCandidate>,
): ReadonlySet<Refusal> {
  const isTried = (each: RestartCandidate): boolean => inProgress.has(each) && isCurrent(each);
  if (!own.some((each) => each.refused !== undefined && isTried(each))) return new Set();
  const others = own.filter((each) => !isTried(each) && each.stale > 0);
  const share = (among: readonly RestartCandidate[]): RefusedShare => ({
    workloads: among.length,
    namespaces: new Set(among.map(({ namespace }) => namespace)).size,
    refused: among.flatMap(({ refused }) => refused ?? []),
  });
  return new Set(blamedRefusals(share(own.filter(isTried)), share(others), 0));
}

/**
 * Returns messages if the latest three restarted workloads still have stale pods, so that further
 * restarts would not help. One such workload is not enough: its template may contain the sidecar.
 */
function withoutEffect(done: readonly RestartCandidate[]): string[] {
  const last = [...done].sort((one, other) => restartedAt(other) - restartedAt(one)).slice(0, withoutEffectLimit);
  if (last.length < withoutEffectLimit || last.some(({ stale, leftOut }) => stale === 0 || leftOut !== undefined))
    return [];
  return last.map(({ key }) => `${key}: restarted, but still has stale pods: find out why`);
}
