import { parseRoute } from '../../../src/routing/route.ts';
import {
  endOfStep,
  pathsOf,
  pauseOfStep,
  statesOf,
  statesOfStep,
  type Absence,
  type RolloutHistory,
  type Rule,
  type StepSeen,
  type WrittenState,
} from './history.ts';
import { describeWrite, isPlanned, tag } from './writes.ts';

/**
 * The milliseconds by which a pause may end late, because a new leader first reads the cluster.
 * Times without a leader and stalls count extra. A repeated pause would end later (`latePart`).
 */
const tardyMs = 12_000;

type StepRule = (step: StepSeen, index: number, states: readonly WrittenState[], history: RolloutHistory) => string[];

/** Applies the rule to each step. */
function eachStep(rule: StepRule): Rule {
  return (history) => {
    const states = statesOf(history);
    return history.steps.flatMap((step, index) =>
      rule(step, index, states, history).map((fault) => `step ${index + 1} (${step.weight} percent) ${fault}`),
    );
  };
}

const stepRules: Readonly<Record<string, Rule>> = {
  'a rollout begins once': (history) => {
    const begun = new Set(statesOf(history).flatMap(({ startedAt }) => startedAt ?? []));
    return begun.size === 1 ? [] : [`the rollout began ${begun.size} times: ${[...begun].join(', ')}`];
  },
  'a step begins once': eachStep((_, index, states) => {
    const starts = new Set(statesOfStep(states, index).flatMap(({ stepStartedAt }) => stepStartedAt ?? []));
    return starts.size === 1 ? [] : [`began ${starts.size} times: ${[...starts].join(', ')}`];
  }),
  'a step has its planned weight': eachStep(({ weight }, index, states) => {
    const other = statesOfStep(states, index).find((state) => state.weight !== weight);
    return other === undefined ? [] : [`had a weight of ${other.weight} percent`];
  }),
  // Use the path of the webhook, because only the path assigns revisions.
  'a share never shrinks': (history) => {
    const thresholds = pathsOf(history).flatMap((path) => {
      const route = parseRoute(path)?.route;
      return route?.canary === undefined ? [] : [route.threshold];
    });
    return thresholds.flatMap((threshold, index) => {
      const before = thresholds[index - 1] ?? '';
      return threshold < before ? [`the share shrank from ${before} to ${threshold}`] : [];
    });
  },
  // Use the pods. In a failing step, some workloads of the share may lack a canary pod.
  'a share is exact': eachStep(({ weight, canary, ends }, _index, _states, { workloads }) => {
    const share = Math.ceil((workloads * weight) / 100);
    const isRight = ends === 'Failed' ? canary.length <= share : canary.length === share;
    return isRight ? [] : [`${canary.length} of ${workloads} workloads instead of ${share} got the canary`];
  }),
  'a workload keeps the canary in later steps': ({ steps, flippedBack }) => {
    const lost = steps.flatMap(({ weight, canary }, index) => {
      const gone = (steps[index - 1]?.canary ?? []).filter((name) => !canary.includes(name));
      return gone.map((name) => `${name} got the canary, and then stable at ${weight} percent`);
    });
    return [...lost, ...flippedBack.map((name) => `${name} got the canary, and then stable`)];
  },
  'a step collects its evidence': eachStep(({ ends }, index, states) =>
    ends === 'Paused' && pauseOfStep(states, index) === undefined ? ['never paused'] : [],
  ),
  'a step ends after its evidence': eachStep((_, index, states) => {
    const [ended, proven] = [endOfStep(states, index), pauseOfStep(states, index)];
    return ended !== undefined && proven !== undefined && ended.at < proven.at ? ['ended before its evidence'] : [];
  }),
  'evidence consists of pods that were ready for long enough': eachStep((step, index, states, { minReadyMs }) => {
    const proven = pauseOfStep(states, index);
    const unready = step.canary.filter((name) => (proven?.at ?? Infinity) < readyAt(step, name) + minReadyMs);
    return unready.length === 0
      ? []
      : [`paused before ${unready.join(', ')} had canary pods that were ready for ${minReadyMs} ms`];
  }),
  // Each new pod is compared at most once.
  'a shadow step ends after its comparisons': eachStep(({ ends }, index, states, { minimumPods, podsMadeAt }) => {
    const [first] = statesOfStep(states, index);
    const ended = endOfStep(states, index);
    if (ends !== 'Compared' || first === undefined || ended === undefined) return [];
    const made = podsMadeAt.filter((at) => at >= first.at && at <= ended.at).length;
    return made >= minimumPods ? [] : [`ended when ${made} of ${minimumPods} pods for comparison had been created`];
  }),
  'a pause begins once': eachStep((_, index, states) => {
    const begun = new Set(statesOfStep(states, index).flatMap(({ pausedAt }) => pausedAt ?? []));
    return begun.size <= 1 ? [] : [`its pause began ${begun.size} times: ${[...begun].join(', ')}`];
  }),
  // Use the times at which the pods became ready, not the status.
  'a pause is not shorter than planned': eachStep((step, index, states, { minReadyMs }) => {
    const { pauseMs, canary } = step;
    const ended = endOfStep(states, index);
    if (pauseMs === undefined || ended === undefined) return [];
    const evidence = Math.max(...canary.map((name) => readyAt(step, name))) + minReadyMs;
    const least = ended.at - evidence;
    return least >= pauseMs ? [] : [`ended ${least} ms after its evidence instead of ${pauseMs} ms`];
  }),
  'a pause is not longer than planned': eachStep(({ pauseMs, stoodStillMs }, index, states, { absences }) => {
    const [begun, ended] = [pauseOfStep(states, index), endOfStep(states, index)];
    if (pauseMs === undefined || begun === undefined || ended === undefined) return [];
    const leadMs = ended.at - begun.at - absentWithin(absences, { from: begun.at, until: ended.at });
    return leadMs <= pauseMs + tardyMs + stoodStillMs
      ? []
      : [`paused for ${leadMs} ms while there was a leader, instead of ${pauseMs} ms`];
  }),
};

function absentWithin(absences: readonly Absence[], { from, until }: Absence): number {
  return absences.reduce((sum, each) => sum + Math.max(0, Math.min(until, each.until) - Math.max(from, each.from)), 0);
}

function readyAt(step: StepSeen, name: string): number {
  return step.readyAt.get(name) ?? Infinity;
}

/** The rules for the end of a rollout and for all writes of a rollout. */
const endRules: Readonly<Record<string, Rule>> = {
  'the webhook is updated once per step and once at the end': (history) => {
    const paths = pathsOf(history);
    const expected = history.steps.length + 1;
    if (paths.length === expected) return [];
    return [`${paths.length} updates of the webhook instead of ${expected}: ${paths.join(', ')}`];
  },
  'the webhook finally points to the planned InjectorConfig': (history) => {
    const { injectorConfig } = history.end;
    const last = pathsOf(history).at(-1) ?? 'nowhere';
    const isThere = parseRoute(last)?.route.canary === undefined && last.startsWith(`/tags/${tag}/${injectorConfig}/`);
    return isThere ? [] : [`the last update of the webhook has the path ${last}, not only ${injectorConfig}`];
  },
  'a rollout ends as planned': (history) => {
    const { phase, reason } = history.end;
    const last = statesOf(history).at(-1);
    const isRight = last?.phase === phase && last.reason === reason;
    return isRight ? [] : [`it ended as ${last?.phase ?? 'nothing'}/${last?.reason ?? ''}, not as ${phase}/${reason}`];
  },
  // No user requested a retry.
  'the canary does not return after its rollback': (history) => {
    const states = statesOf(history);
    const rolledBack = states.findIndex(({ phase }) => phase === 'RolledBack');
    const back = rolledBack === -1 ? undefined : states.slice(rolledBack).find(({ canary }) => canary !== undefined);
    return back === undefined ? [] : [`after the rollback: ${back.phase}/${back.reason} at ${back.weight} percent`];
  },
  // The operator would refuse a second abort, because no rollout is in progress anymore.
  'an abort is executed once': (history) => {
    const { abort } = history.end;
    if (abort === undefined) return [];
    const answers = statesOf(history).flatMap(({ phase, action }) =>
      action?.nonce === abort ? [`${action.verb} ${action.state}, ${phase}`] : [],
    );
    const other = [...new Set(answers)].filter((answer) => answer !== 'abort Done, RolledBack');
    if (answers.length === 0) return ['the operator never executed the abort'];
    return other.length === 0 ? [] : [`the abort was not executed exactly once: ${other.join('; ')}`];
  },
  'a workload is restarted at most once per revision': ({ writes }) => {
    const counts = new Map<string, number>();
    for (const { restart } of writes) if (restart !== undefined) counts.set(restart, (counts.get(restart) ?? 0) + 1);
    return [...counts]
      .filter(([, count]) => count > 1)
      .map(([restart, count]) => `${restart} was restarted ${count} times`);
  },
  'only eligible workloads are restarted': ({ writes, restartable }) =>
    writes
      .filter(({ restart, name }) => restart !== undefined && !restartable.includes(name))
      .map((write) => `restarted without need: ${describeWrite(write)}`),
  'the operator writes no other objects': ({ writes }) =>
    writes.filter((write) => !isPlanned(write)).map((write) => `not planned: ${describeWrite(write)}`),
};

export const rules: ReadonlyMap<string, Rule> = new Map(Object.entries({ ...stepRules, ...endRules }));

/** Returns the violations of all rules. */
export function judgeRollout(history: RolloutHistory): string[] {
  return [...rules.values()].flatMap((rule) => rule(history));
}
