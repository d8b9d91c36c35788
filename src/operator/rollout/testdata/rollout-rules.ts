import { tagWebhookConfiguration } from '../../../api/names.ts';
import { parseRestartAnnotation, restartedAnnotation } from '../../../api/revision-tag/restart-annotation.ts';
import type { RolloutState } from '../../../api/revision-tag/revision-tag.ts';
import { parseRoute } from '../../../routing/route.ts';
import type { PerformedWrite } from '../../testdata/operator-fixture.ts';

/** A write of the operator in a rollout. All times are in milliseconds since 1970. */
export interface RolloutWrite extends Omit<PerformedWrite, 'body'> {
  readonly state?: RolloutState;
  /** The path of the tag's webhook. */
  readonly path?: string;
  /** The restarted workload, and the configuration that its pods get. */
  readonly restart?: string;
}

interface WrittenObject {
  spec?: { template?: { metadata?: { annotations?: Record<string, string> } } };
  status?: { rollout?: RolloutState };
  webhooks?: { clientConfig: { service?: { path: string } } }[];
}

/** Reads what a write sets. Ignores the probe webhook, whose path selects no workload. */
export function readWrite({ verb, resource, name, at, body }: PerformedWrite, tag: string): RolloutWrite {
  const { spec, status, webhooks = [] } = JSON.parse(body || '{}') as WrittenObject;
  const state = resource === 'revisiontags/status' ? status?.rollout : undefined;
  const path = name === tagWebhookConfiguration(tag) ? webhooks[0]?.clientConfig.service?.path : undefined;
  const restarts = parseRestartAnnotation(spec?.template?.metadata?.annotations?.[restartedAnnotation]);
  const target = restarts.find((restart) => restart.tag === tag)?.target;
  return {
    ...{ verb, resource, name, at },
    ...(state && { state }),
    ...(path === undefined ? {} : { path }),
    ...(target === undefined ? {} : { restart: `${resource} ${name} for ${target}` }),
  };
}

/** Formats the step and the phase of a state, for example `25 % WaitingForPods/NotEnoughPods`. */
export function phaseOf({ canary, weight, phase, reason }: RolloutState): string {
  return canary === undefined ? `${phase}/${reason}` : `${weight} % ${phase}/${reason}`;
}

export interface StepSeen {
  readonly weight: number;
  /** How the step ends: after its comparisons, after its pause, or because the canary pods fail. */
  readonly ends: 'Compared' | 'Paused' | 'Failed';
  /** The planned pause in milliseconds; undefined if the pause lasts until a user resumes. */
  readonly pauseMs?: number;
  /** How late the pause may end, in milliseconds: a new leader first reads the cluster. */
  readonly tardyMs: number;
  readonly canary: readonly string[];
  /** When each workload first had a ready canary pod. */
  readonly readyAt: ReadonlyMap<string, number>;
}

export interface RolloutEnd {
  readonly phase: 'Promoted' | 'RolledBack';
  readonly reason: string;
  /** The InjectorConfig that all workloads get at the end. */
  readonly injectorConfig: string;
  /** The nonce of the user's abort request. */
  readonly abort?: string;
}

export interface RolloutHistory {
  readonly tag: string;
  readonly workloads: number;
  readonly minReadyMs: number;
  readonly minimumPods: number;
  readonly steps: readonly StepSeen[];
  readonly end: RolloutEnd;
  readonly writes: readonly RolloutWrite[];
  /** Workloads that went from the canary to stable before the promotion or rollback. */
  readonly flippedBack: readonly string[];
  readonly restartable: readonly string[];
  /** When all stored pods were created. */
  readonly podsMadeAt: readonly number[];
}

/** A rule for rollouts. Returns a description of each violation. */
export type Rule = (history: RolloutHistory) => string[];

type WrittenState = RolloutState & { readonly at: number };

/** Returns the states of this rollout in order, without states of the previous rollout. */
export function statesOf({ writes }: Pick<RolloutHistory, 'writes'>): readonly WrittenState[] {
  const all = writes.flatMap(({ state, at }) => (state === undefined ? [] : [{ ...state, at }]));
  const first = all.findIndex(({ canary }) => canary !== undefined);
  return first === -1 ? [] : all.slice(first);
}

/** Returns the first state after the end of a step. */
export function endOfStep(states: readonly WrittenState[], index: number): WrittenState | undefined {
  return states.find(({ canary, step = -1 }) => canary === undefined || step > index);
}

/** Returns the first paused state of a step. The operator pauses once enough pods are ready. */
export function pauseOfStep(states: readonly WrittenState[], index: number): WrittenState | undefined {
  return states.find(({ phase, step }) => phase === 'Paused' && step === index);
}

/** Returns the writes of the webhook's path in order. */
export function pathWritesOf({ writes }: Pick<RolloutHistory, 'writes'>): { path: string; at: number }[] {
  return writes.flatMap(({ path, at }) => (path === undefined ? [] : [{ path, at }]));
}

interface StepFacts {
  readonly history: RolloutHistory;
  /** The states of this step. */
  readonly own: readonly WrittenState[];
  readonly paused: WrittenState | undefined;
  readonly ended: WrittenState | undefined;
}

/** Applies a rule to each step. */
function eachStep(rule: (step: StepSeen, facts: StepFacts) => string[]): Rule {
  return (history) => {
    const states = statesOf(history);
    return history.steps.flatMap((step, index) => {
      const own = states.filter((state) => state.canary !== undefined && state.step === index);
      const facts = { history, own, paused: pauseOfStep(states, index), ended: endOfStep(states, index) };
      return rule(step, facts).map((fault) => `step ${index + 1} (${step.weight} percent) ${fault}`);
    });
  };
}

const unless = (isRight: boolean, fault: string): string[] => (isRight ? [] : [fault]);
const unique = (values: readonly (string | undefined)[]): string[] => [...new Set(values.flatMap((each) => each ?? []))];
const readyAt = ({ readyAt }: StepSeen, name: string): number => readyAt.get(name) ?? Infinity;

export const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>(Object.entries({
  'a rollout begins once': (history) => {
    const begun = unique(statesOf(history).map(({ startedAt }) => startedAt));
    return unless(begun.length === 1, `the rollout began ${begun.length} times: ${begun.join(', ')}`);
  },
  'a step begins once': eachStep((_, { own }) => {
    const begun = unique(own.map(({ stepStartedAt }) => stepStartedAt));
    return unless(begun.length === 1, `began ${begun.length} times: ${begun.join(', ')}`);
  }),
  'a step has its planned weight': eachStep((step, { own }) => {
    const other = own.find(({ weight }) => weight !== step.weight);
    return unless(other === undefined, `had a weight of ${other?.weight} percent`);
  }),
  // Use the path of the webhook, because only the path assigns revisions.
  'a share never shrinks': (history) => {
    const routes = pathWritesOf(history).map(({ path }) => parseRoute(path)?.route);
    const thresholds = routes.flatMap((route) => (route?.canary === undefined ? [] : [route.threshold]));
    return thresholds.flatMap((threshold, index) =>
      unless(threshold >= (thresholds[index - 1] ?? ''), `the share shrank from ${thresholds[index - 1]} to ${threshold}`));
  },
  // Use the pods. In a failing step, some workloads of the share may lack a canary pod.
  'a share is exact': eachStep(({ weight, canary, ends }, { history: { workloads } }) => {
    const share = Math.ceil((workloads * weight) / 100);
    const isRight = ends === 'Failed' ? canary.length <= share : canary.length === share;
    return unless(isRight, `${canary.length} of ${workloads} workloads instead of ${share} got the canary`);
  }),
  'a workload keeps the canary in later steps': ({ steps, flippedBack }) => {
    const lost = steps.flatMap(({ canary }, index) => (steps[index - 1]?.canary ?? []).filter((name) => !canary.includes(name)));
    return [...lost, ...flippedBack].map((name) => `${name} got the canary, and then stable`);
  },
  'a step collects its evidence': eachStep(({ ends }, { paused }) => unless(ends !== 'Paused' || paused !== undefined, 'never paused')),
  'a step ends after its evidence': eachStep((_, { paused, ended }) =>
    unless((ended?.at ?? Infinity) >= (paused?.at ?? -Infinity), 'ended before its evidence')),
  'evidence consists of pods that were ready for long enough': eachStep((step, { paused, history: { minReadyMs } }) => {
    const unready = step.canary.filter((name) => (paused?.at ?? Infinity) < readyAt(step, name) + minReadyMs);
    return unless(unready.length === 0, `paused before ${unready.join(', ')} had canary pods that were ready for ${minReadyMs} ms`);
  }),
  // Each new pod is compared at most once.
  'a shadow step ends after its comparisons': eachStep(({ ends }, { own: [first], ended, history: { minimumPods, podsMadeAt } }) => {
    if (ends !== 'Compared' || first === undefined || ended === undefined) return [];
    const made = podsMadeAt.filter((at) => at >= first.at && at <= ended.at).length;
    return unless(made >= minimumPods, `ended when ${made} of ${minimumPods} pods for comparison had been created`);
  }),
  'a pause begins once': eachStep((_, { own }) => {
    const begun = unique(own.map(({ pausedAt }) => pausedAt));
    return unless(begun.length <= 1, `its pause began ${begun.length} times: ${begun.join(', ')}`);
  }),
  // Use the times at which the pods became ready, not the status.
  'a pause is not shorter than planned': eachStep((step, { ended, history: { minReadyMs } }) => {
    if (step.pauseMs === undefined || ended === undefined) return [];
    const least = ended.at - Math.max(...step.canary.map((name) => readyAt(step, name))) - minReadyMs;
    return unless(least >= step.pauseMs, `ended ${least} ms after its evidence instead of ${step.pauseMs} ms`);
  }),
  'a pause is not longer than planned': eachStep(({ pauseMs, tardyMs }, { paused, ended }) => {
    if (pauseMs === undefined || paused === undefined || ended === undefined) return [];
    const took = ended.at - paused.at;
    return unless(took <= pauseMs + tardyMs, `paused for ${took} ms instead of ${pauseMs} ms`);
  }),
  'the webhook is updated once per step and once at the end': (history) => {
    const paths = pathWritesOf(history).map(({ path }) => path);
    const expected = history.steps.length + 1;
    return unless(paths.length === expected, `${paths.length} updates of the webhook instead of ${expected}: ${paths.join(', ')}`);
  },
  'the webhook finally points to the planned InjectorConfig': (history) => {
    const { tag, end } = history;
    const last = pathWritesOf(history).at(-1)?.path ?? 'nowhere';
    const isThere = parseRoute(last)?.route.canary === undefined && last.startsWith(`/tags/${tag}/${end.injectorConfig}/`);
    return unless(isThere, `the last update of the webhook has the path ${last}, not only ${end.injectorConfig}`);
  },
  'a rollout ends as planned': (history) => {
    const { phase, reason } = history.end;
    const last = statesOf(history).at(-1);
    return unless(last?.phase === phase && last.reason === reason, `it ended as ${last && phaseOf(last)}, not as ${phase}/${reason}`);
  },
  // No user requested a retry.
  'the canary does not return after its rollback': (history) => {
    const states = statesOf(history);
    const rolledBack = states.findIndex(({ phase }) => phase === 'RolledBack');
    const back = rolledBack === -1 ? undefined : states.slice(rolledBack).find(({ canary }) => canary !== undefined);
    return unless(back === undefined, `after the rollback: ${back && phaseOf(back)}`);
  },
  // The operator would refuse a second abort, because no rollout is in progress anymore.
  'an abort is executed once': (history) => {
    const { abort } = history.end;
    const answered = statesOf(history).filter(({ action }) => abort !== undefined && action?.nonce === abort);
    const answers = unique(answered.map(({ action, phase }) => `${action?.verb} ${action?.state}, ${phase}`));
    return unless(abort === undefined || answers.join() === 'abort Done, RolledBack', `the answers to the abort: ${answers.join('; ')}`);
  },
  'a workload is restarted at most once per revision': ({ writes }) => {
    const restarts = writes.flatMap(({ restart }) => restart ?? []);
    const repeated = restarts.filter((restart, index) => restarts.indexOf(restart) !== index);
    return unique(repeated).map((restart) => `${restart} was restarted more than once`);
  },
  'only eligible workloads are restarted': ({ writes, restartable }) =>
    writes.flatMap(({ restart, name }) => unless(restart === undefined || restartable.includes(name), `restarted without need: ${restart}`)),
  'the operator writes no other objects': ({ writes, tag }) =>
    writes.filter((write) => !isPlanned(write, tag)).map(({ verb, resource, name }) => `not planned: ${verb} ${resource} ${name}`),
} satisfies Record<string, Rule>));

/** Reports whether a write belongs to a rollout, or to the usage statistics of a new leader. */
function isPlanned({ verb, resource, name, restart }: RolloutWrite, tag: string): boolean {
  const [webhook, probe] = [tagWebhookConfiguration(tag), `sidecar-injector-probe-tag-${tag}`];
  // The only change of a workload is its restart.
  if (resource === 'deployments') return verb === 'patch' && restart !== undefined;
  if (resource === 'injectorconfigs/status') return verb === 'patch';
  const planned = [`patch revisiontags/status ${tag}`, `create configmaps ${probe}`, `delete mutatingwebhookconfigurations ${probe}`];
  return [...planned, ...[webhook, probe].map((each) => `patch mutatingwebhookconfigurations ${each}`)].includes(`${verb} ${resource} ${name}`);
}

/** Returns the violations of all rules. */
export function judgeRollout(history: RolloutHistory): string[] {
  return [...rules.values()].flatMap((rule) => rule(history));
}
