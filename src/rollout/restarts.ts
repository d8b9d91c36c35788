import { durationMilliseconds } from '../api/duration.ts';
import type { RestartStrategy } from '../api/rollout-strategy.ts';
import type { RestartStatus } from '../api/rollout-status.ts';
import { listedNames } from '../api/usage-status.ts';
import { workloadKey, type RolloutWorkload } from './workload-key.ts';

/** A workload with stale pods, or one that was restarted by us. */
export interface RestartCandidate extends RolloutWorkload {
  /** How many of its pods are stale. */
  readonly stale: number;
  /** `N.<hash8>`: what its pods would get now. */
  readonly target: string;
  /** What our annotation on its pod template says: for which target it was restarted, and when (milliseconds since 1970). */
  readonly restarted?: { readonly target: string; readonly at: number };
  /** How its controller replaces pods (`spec.strategy` or `spec.updateStrategy`). */
  readonly updateType?: string;
  /** `spec.paused`. */
  readonly paused: boolean;
  /** Since when its controller has done all there is to do, with every pod of its present template ready; undefined while it has not. */
  readonly completeSince?: number;
  /** Pods of it have a canary that was rolled back. */
  readonly rolledBack?: boolean;
  /** PodDisruptionBudgets that cover its pods. */
  readonly budgets: readonly { readonly name: string; readonly disruptionsAllowed: number }[];
}

/** A workload, and why nothing is done about it. */
type Left = RestartStatus['waiting'][number];

/** What to restart now. */
export interface RestartPlan {
  /** In the order in which to write them; each with {@link RestartCandidate.target} as its annotation. */
  readonly restart: readonly RestartCandidate[];
  /** What is worth saying, for `status.restarts`. */
  readonly status: RestartStatus;
  /** When time alone may change something. Milliseconds since 1970. */
  readonly at: number | undefined;
}

/** What was restarted longer ago, and is not complete now, has other troubles than the restart. Milliseconds. */
const history = 24 * 3_600_000;

const restartable: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

/**
 * Which workloads with stale pods to restart now. The bounds count every workload that was restarted and is not complete yet, whoever of the leaders
 * restarted it: all that is remembered is the annotation on the pod template. A workload is restarted once for one target. Nothing is restarted
 * while one that was restarted for what is current is not complete in time, and none whose PodDisruptionBudget allows no disruption or that is
 * not complete itself. Where we are to blame for that, because it was restarted for another target or has a canary that was rolled back, it is
 * restarted all the same: its own pods that are not ready use up the budget, and a restart is what helps them.
 * The order is that of namespace, kind and name.
 */
export function planRestarts(
  candidates: readonly RestartCandidate[],
  bounds: RestartStrategy,
  now: number,
): RestartPlan {
  const sorted = [...candidates].sort((one, other) => (workloadKey(one) < workloadKey(other) ? -1 : 1));
  const inProgress = sorted.filter((candidate) => isInProgress(candidate, bounds, now));
  const late = inProgress.filter((candidate) => isCurrent(candidate) && lateAt(candidate, bounds) <= now);
  const stale = sorted.filter(
    (candidate) => candidate.stale > 0 && !(isCurrent(candidate) && inProgress.includes(candidate)),
  );
  const untouched: Left[] = [];
  const waiting: Left[] = [];
  const restart: RestartCandidate[] = [];
  const running = new Running(inProgress);
  for (const candidate of stale) {
    const never = whyNever(candidate);
    if (never !== undefined) {
      untouched.push(left(candidate, never));
      continue;
    }
    const notNow = late.length > 0 ? stopped(late) : whyNotNow(candidate, bounds, running, now);
    if (notNow !== undefined) {
      waiting.push(left(candidate, notNow));
      continue;
    }
    restart.push(candidate);
    running.add(candidate);
  }
  const at = inProgress
    .flatMap((candidate) => [lateAt(candidate, bounds), doneAt(candidate, bounds)])
    .filter((time) => time > now && time < Infinity);
  return {
    restart,
    status: {
      ...phaseOf({ late, waiting, busy: running.count(), untouched }),
      stale: sorted.filter((candidate) => candidate.stale > 0).length,
      inProgress: running.count(),
      waiting: waiting.slice(0, listedNames),
      untouched: untouched.slice(0, listedNames),
    },
    at: at.length === 0 ? undefined : Math.min(...at),
  };
}

/** The workloads that are restarting, and what is left of the budgets. */
class Running {
  readonly #workloads: Map<string, RolloutWorkload>;
  readonly #taken = new Map<string, number>();

  constructor(inProgress: readonly RestartCandidate[]) {
    this.#workloads = new Map(inProgress.map((candidate) => [workloadKey(candidate), candidate]));
  }

  /** How many there are, in a namespace or in the cluster. */
  count(namespace?: string): number {
    return [...this.#workloads.values()].filter((each) => namespace === undefined || each.namespace === namespace)
      .length;
  }

  has(workload: RolloutWorkload): boolean {
    return this.#workloads.has(workloadKey(workload));
  }

  /** A budget that allows nothing more: what this pass restarts is not in its status yet. */
  exhausted({ namespace, budgets }: RestartCandidate): string | undefined {
    const taken = (name: string): number => this.#taken.get(`${namespace}/${name}`) ?? 0;
    return budgets.find(({ name, disruptionsAllowed }) => disruptionsAllowed - taken(name) < 1)?.name;
  }

  add(candidate: RestartCandidate): void {
    this.#workloads.set(workloadKey(candidate), candidate);
    for (const { name } of candidate.budgets) {
      const key = `${candidate.namespace}/${name}`;
      this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    }
  }
}

function isRecent({ restarted }: RestartCandidate, now: number): boolean {
  return restarted !== undefined && now - restarted.at < history;
}

/** Restarted for what its pods would get now. */
function isCurrent({ restarted, target }: RestartCandidate): boolean {
  return restarted?.target === target;
}

/** Restarted by us, and not complete for long enough since. */
function isInProgress(candidate: RestartCandidate, bounds: RestartStrategy, now: number): boolean {
  return isRecent(candidate, now) && doneAt(candidate, bounds) > now;
}

function doneAt({ restarted, completeSince }: RestartCandidate, { minReadySeconds }: RestartStrategy): number {
  if (completeSince === undefined) return Infinity;
  return Math.max(completeSince, restarted?.at ?? 0) + minReadySeconds * 1000;
}

function lateAt({ restarted, completeSince }: RestartCandidate, { readyTimeout }: RestartStrategy): number {
  if (restarted === undefined || completeSince !== undefined) return Infinity;
  return restarted.at + durationMilliseconds(readyTimeout);
}

type Why = Pick<Left, 'reason' | 'message'>;

/** Why somebody else has to make its pods anew. */
function whyNever({ kind, updateType, paused, restarted, target }: RestartCandidate): Why | undefined {
  if (kind === 'Pod') {
    return { reason: 'NoController', message: 'nothing makes this pod again: make it anew yourself' };
  }
  if (kind === 'Job' || kind === 'CronJob') {
    return { reason: 'Job', message: 'pods of Jobs end by themselves; the next ones get what is current' };
  }
  if (!restartable.has(kind)) {
    return { reason: 'UnknownKind', message: `a ${kind} is restarted by its own tools` };
  }
  if (paused) return { reason: 'Paused', message: 'it is paused (spec.paused): resume it, and it is restarted' };
  if (updateType === 'OnDelete') {
    return { reason: 'OnDelete', message: 'its pods are replaced only when somebody deletes them (OnDelete)' };
  }
  if (restarted?.target === target) {
    return { reason: 'StillStale', message: `it was restarted for ${target} and still has stale pods: see why` };
  }
  return undefined;
}

function whyNotNow(
  candidate: RestartCandidate,
  { maxUnavailableWorkloads, perNamespace }: RestartStrategy,
  running: Running,
  now: number,
): Why | undefined {
  const { namespace, completeSince, rolledBack } = candidate;
  const isOurDoing = completeSince === undefined && (isRecent(candidate, now) || rolledBack === true);
  const budget = isOurDoing ? undefined : running.exhausted(candidate);
  if (budget !== undefined) {
    return { reason: 'Budget', message: `PodDisruptionBudget ${budget} allows no disruption now` };
  }
  if (completeSince === undefined && !isOurDoing) {
    return { reason: 'NotComplete', message: 'not all of its pods are ready and of its present template' };
  }
  // One that is restarting already, for another target, takes nothing more away.
  if (running.has(candidate)) return undefined;
  const inCluster = running.count();
  if (inCluster >= maxUnavailableWorkloads) {
    return { reason: 'Bound', message: `${inCluster} workloads are restarting (maxUnavailableWorkloads)` };
  }
  const inNamespace = running.count(namespace);
  if (inNamespace >= perNamespace) {
    return { reason: 'Bound', message: `${inNamespace} workloads of ${namespace} are restarting (perNamespace)` };
  }
  return undefined;
}

function stopped(late: readonly RestartCandidate[]): Why {
  return { reason: 'Stopped', message: lateMessage(late) };
}

function lateMessage(late: readonly RestartCandidate[]): string {
  const names = late.slice(0, 3).map(workloadKey).join(', ');
  return `${names}${late.length > 3 ? ` and ${late.length - 3} more` : ''}: restarted and not complete in time (readyTimeout)`;
}

function phaseOf({
  late,
  waiting,
  busy,
  untouched,
}: {
  readonly late: readonly RestartCandidate[];
  readonly waiting: readonly Left[];
  readonly busy: number;
  readonly untouched: readonly Left[];
}): Pick<RestartStatus, 'phase' | 'message'> {
  if (late.length > 0) return { phase: 'Stopped', message: `nothing more is restarted: ${lateMessage(late)}` };
  if (busy > 0) return { phase: 'Restarting', message: `${busy} restarting, ${waiting.length} to come` };
  const [first] = waiting;
  if (first !== undefined)
    return { phase: 'Waiting', message: `${waiting.length} wait; ${workloadKey(first)}: ${first.message}` };
  const others = untouched.length === 0 ? '' : `; ${untouched.length} are for somebody else to restart`;
  return { phase: 'Idle', message: `nothing to restart${others}` };
}

function left({ namespace, kind, name }: RolloutWorkload, why: Why): Left {
  return { namespace, kind, name, ...why };
}
