import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { aborted, failing, type Plan } from './plans.ts';
import { anyName, tag, type RolloutWrite } from './writes.ts';

export interface Trial {
  readonly plan: Plan;
  readonly targets: readonly RolloutWrite[];
  /** Whether the killed one comes back at once in its pod, as a container does, or only once another leads. */
  readonly isRestarted: boolean;
  /** Whether one more is killed when most of a timed pause is over. */
  readonly isKilledInPause?: boolean;
}

/** What each new leader writes when it has counted who uses an InjectorConfig, at whatever time that is. */
const usages = ['v1', 'v2'].map((name) => patchOf('injectorconfigs/status', name, ''));

/** So many leaders are killed in one rollout: far apart, so that each finds what the one before has left behind, and goes on for a while. */
const perRollout = 4;

/**
 * After every write of a rollout, some in one rollout. To be killed before a write is to be killed after the one before it: the API server has the same in
 * both cases. Before the first one of a rollout that is the last one of the rollout before.
 */
export function everyTrial(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  return spread(writes).map((targets) => ({ plan, targets, isRestarted: true, isKilledInPause: true }));
}

/** After what each new leader writes, which is none of the writes of a rollout. */
export function usageTrials(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  return usages.map((target) => ({ plan, targets: [...writes.slice(0, 1), target], isRestarted: true }));
}

/** After one write of each object another one leads. */
export function otherLeaderTrials(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  const first = firstOfEach(writes, ({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  return first.map((target) => ({ plan, targets: [target], isRestarted: false }));
}

/** After one write of each kind, some in a rollout. */
export function someTrials(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  const [first, ...others] = oneOfEachKind(writes);
  const targets = first === undefined ? spread(others) : [[first, ...usages.slice(0, 1)], ...spread(others)];
  return targets.map((each) => ({ plan, targets: each, isRestarted: true }));
}

/** After what a shadow step, a timed pause, an abort and a rollback by health decide, and what they do. */
export const otherWays: readonly Trial[] = [
  {
    plan: aborted,
    targets: [
      ...bothIn('0 % Shadowing/StepStarted'),
      statusIn('0 % Shadowing/ComparingPods'),
      statusIn('25 % Paused/Pause'),
      ...bothIn('RolledBack/Aborted'),
    ],
    isRestarted: true,
    isKilledInPause: true,
  },
  {
    plan: failing,
    targets: [...bothIn('RolledBack/PodsFailing'), patchOf('deployments', anyName, 'RolledBack')],
    isRestarted: true,
  },
];

/** Which workloads are restarted may depend on the time that things take: their writes by their order. */
export function byOrder(writes: readonly RolloutWrite[]): RolloutWrite[] {
  const counts = new Map<string, number>();
  return writes.map((write) => {
    if (write.restart === undefined) return write;
    const ordinal = (counts.get(write.phase) ?? 0) + 1;
    counts.set(write.phase, ordinal);
    return { ...write, name: anyName, ordinal };
  });
}

/** Those writes of a kind that another rollout does not have. */
export function othersThan(known: readonly RolloutWrite[], writes: readonly RolloutWrite[]): RolloutWrite[] {
  const kinds = new Set(known.map(kindOf));
  return writes.filter((write) => !kinds.has(kindOf(write)));
}

/** The first write of each kind, in the given order. */
export function oneOfEachKind(writes: readonly RolloutWrite[]): RolloutWrite[] {
  return firstOfEach(writes, kindOf);
}

/** What it is, and what the rollout was at, whatever the step. */
export function kindOf({ verb, resource, name, phase }: RolloutWrite): string {
  // Deployments are many and all alike.
  const subject = resource === 'deployments' ? '' : name;
  return `${verb} ${resource} ${subject} ${phase.replace(/^\d+ % /, '')}`;
}

/** A status in the middle of a step. If all pods are ready at the first look, the operator does not write it. */
export function isPassing({ resource, phase }: RolloutWrite): boolean {
  return resource === 'revisiontags/status' && /\/(?:NotEnoughPods|WatchingPods|ComparingPods)$/.test(phase);
}

function firstOfEach(writes: readonly RolloutWrite[], keyOf: (write: RolloutWrite) => string): RolloutWrite[] {
  const first = new Map<string, RolloutWrite>();
  for (const write of writes) if (!first.has(keyOf(write))) first.set(keyOf(write), write);
  return [...first.values()];
}

function spread(targets: readonly RolloutWrite[]): RolloutWrite[][] {
  const count = Math.ceil(targets.length / perRollout);
  return Array.from({ length: count }, (_, rollout) => targets.filter((_, index) => index % count === rollout));
}

function patchOf(resource: string, name: string, phase: string): RolloutWrite {
  return { verb: 'patch', resource, name, phase, ordinal: 1, at: 0 };
}

function statusIn(phase: string): RolloutWrite {
  return patchOf('revisiontags/status', tag, phase);
}

/** What is said of the tag, and where its webhook is led. */
function bothIn(phase: string): RolloutWrite[] {
  return [statusIn(phase), patchOf('mutatingwebhookconfigurations', tagWebhookConfiguration(tag), phase)];
}
