import { rolloutOfPath } from '../../../src/api/names.ts';
import type { RolloutWrite } from './writes.ts';

/** What was seen of one step from outside. */
export interface StepSeen {
  readonly weight: number;
  /** The workloads whose pods were made by the canary. */
  readonly canary: readonly string[];
  /** When each of these had its first pod that was ready: before, there was no evidence. Milliseconds since 1970. */
  readonly readyAt: ReadonlyMap<string, number>;
}

/** One rollout, from outside: what was written, and what pods were made. */
export interface RolloutHistory {
  readonly workloads: number;
  readonly minReadyMs: number;
  readonly steps: readonly StepSeen[];
  /** What all controllers have written. */
  readonly writes: readonly RolloutWrite[];
  /** Workloads that got a pod of the stable revision after one of the canary. */
  readonly flippedBack: readonly string[];
}

/** What a rollout must not do, whoever led it; empty when all is well. */
export function judgeRollout(history: RolloutHistory): string[] {
  return [...misledWebhooks(history), ...wrongShares(history), ...wrongCourse(history), ...repeatedRestarts(history)];
}

/** One update of the webhook for each step, with a share that grows, and one for the promotion. */
function misledWebhooks({ writes, steps }: RolloutHistory): string[] {
  const paths = writes.flatMap(({ path }) => path ?? []);
  const faults =
    paths.length === steps.length + 1
      ? []
      : [`${paths.length} updates of the webhook instead of ${steps.length + 1}: ${paths.join(', ')}`];
  const thresholds = paths.slice(0, -1).map((path) => rolloutOfPath(path)?.threshold ?? 'none');
  for (const [index, threshold] of thresholds.entries()) {
    if (threshold === 'none' || threshold <= (thresholds[index - 1] ?? ''))
      faults.push(`update ${index + 1} of the webhook does not grow: ${paths[index]}`);
  }
  const last = paths.at(-1) ?? '';
  if (rolloutOfPath(last) !== undefined) faults.push(`the last update of the webhook is no promotion: ${last}`);
  return faults;
}

/** Exactly the share, by the pods that were made; a workload of one step is one of the next. */
function wrongShares({ workloads, steps, flippedBack }: RolloutHistory): string[] {
  const faults = steps.flatMap(({ weight, canary }, index) => {
    const share = Math.ceil((workloads * weight) / 100);
    const lost = (steps[index - 1]?.canary ?? []).filter((name) => !canary.includes(name));
    return [
      ...(canary.length === share
        ? []
        : [`${canary.length} of ${workloads} workloads instead of ${share} got the canary at ${weight} percent`]),
      ...lost.map((name) => `${name} got the canary, and stable at ${weight} percent`),
    ];
  });
  return [...faults, ...flippedBack.map((name) => `${name} got the canary, and stable after it`)];
}

/** Each step begins once, and ends after its evidence; a rollout begins once, and is promoted after its last step. */
function wrongCourse({ writes, steps, minReadyMs }: RolloutHistory): string[] {
  const faults: string[] = [];
  const all = writes.flatMap(({ state, at }) => (state === undefined ? [] : [{ ...state, at }]));
  // What the rollout before has left may be written once more.
  const states = all.slice(all.findIndex(({ canary }) => canary !== undefined));
  const begun = new Set(states.flatMap(({ startedAt }) => startedAt ?? []));
  if (begun.size !== 1) faults.push(`the rollout began ${begun.size} times: ${[...begun].join(', ')}`);
  for (const [index, { weight, canary, readyAt }] of steps.entries()) {
    const ofStep = states.filter(({ canary, step }) => canary !== undefined && step === index);
    const starts = new Set(ofStep.flatMap(({ stepStartedAt }) => stepStartedAt ?? []));
    if (starts.size !== 1) faults.push(`step ${index + 1} began ${starts.size} times: ${[...starts].join(', ')}`);
    const proven = states.find(({ phase, step }) => phase === 'Paused' && step === index);
    const ended = states.find(({ phase, step = -1 }) => phase === 'Promoted' || step > index);
    if (proven === undefined) faults.push(`step ${index + 1} has never paused`);
    const early = canary.filter((name) => (proven?.at ?? Infinity) < (readyAt.get(name) ?? Infinity) + minReadyMs);
    if (proven !== undefined && early.length > 0) {
      faults.push(
        `step ${index + 1} paused before ${early.join(', ')} had pods of the canary that had been ready for ${minReadyMs} ms`,
      );
    }
    if (ended !== undefined && proven !== undefined && ended.at < proven.at)
      faults.push(`step ${index + 1} ended before its evidence`);
    const other = ofStep.find((state) => state.weight !== weight);
    if (other !== undefined) faults.push(`step ${index + 1} was of ${other.weight} percent`);
  }
  if (states.at(-1)?.phase !== 'Promoted') faults.push(`it ended as ${states.at(-1)?.phase ?? 'nothing'}`);
  return faults;
}

/** A workload is restarted once for a revision at most. */
function repeatedRestarts({ writes }: RolloutHistory): string[] {
  const counts = new Map<string, number>();
  for (const { resource, name } of writes) {
    const workload = `${resource} ${name}`;
    if (/^(deployments|statefulsets|daemonsets)$/.test(resource)) counts.set(workload, (counts.get(workload) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([workload, count]) => `${workload} was restarted ${count} times`);
}
