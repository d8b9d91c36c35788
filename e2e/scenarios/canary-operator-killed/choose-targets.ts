import type { Manner } from './rollout.ts';
import type { RolloutWrite } from './writes.ts';

/** A rollout in which leaders are killed. */
export interface Trial {
  readonly manner: Manner;
  /** After which writes, in the order in which a rollout comes to them. */
  readonly targets: readonly RolloutWrite[];
  /** Whether the killed one comes back at once in its pod, as a container does, or only once another leads. */
  readonly isRestarted: boolean;
}

/** What each new leader writes when it has counted who uses an InjectorConfig, at whatever time that is. */
const usage = { verb: 'patch', resource: 'injectorconfigs/status', phase: '', ordinal: 1, at: 0 };
const usages = ['v1', 'v2'].map((name): RolloutWrite => ({ ...usage, name }));

/** So many leaders are killed in one rollout of the short size. */
const perRollout = 3;

/**
 * After every write of a rollout, one rollout for each; and with another leader after one of each kind. To be killed before a write is to be killed
 * after the one before it: the API server has the same in both cases. Before the first one of a rollout that is the last one of the rollout before.
 */
export function everyTrial(manner: Manner, plan: readonly RolloutWrite[]): Trial[] {
  const trial = (...targets: RolloutWrite[]): Trial => ({ manner, targets, isRestarted: true });
  return [
    ...plan.map((target) => trial(target)),
    ...usages.map((target) => trial(...plan.slice(0, 1), target)),
    ...oneOfEachKind(plan).map((target) => ({ ...trial(target), isRestarted: false })),
  ];
}

/** After one write of each kind, some in a rollout. */
export function someTrials(manner: Manner, plan: readonly RolloutWrite[]): Trial[] {
  const [first, ...others] = oneOfEachKind(plan);
  const count = Math.ceil(others.length / perRollout);
  const spread = Array.from({ length: count }, (_, rollout) => others.filter((_, index) => index % count === rollout));
  const targets = first === undefined ? spread : [[first, ...usages.slice(0, 1)], ...spread];
  return targets.map((each) => ({ manner, targets: each, isRestarted: true }));
}

/** After the restart of the first workload of the share, and of the first of the others, in one rollout. */
export function restartTrial(manner: Manner, share: readonly string[], names: readonly string[]): Trial {
  const restart = { verb: 'patch', resource: 'deployments', ordinal: 1, at: 0 };
  const first = (chosen: readonly string[]): string => [...chosen].sort()[0] ?? '';
  const targets = [
    { ...restart, name: first(share), phase: `${manner.weights[0] ?? 0} %` },
    { ...restart, name: first(names.filter((name) => !share.includes(name))), phase: 'Promoted' },
  ];
  return { manner, targets, isRestarted: true };
}

/** The first write of each kind, in the order of the plan. */
export function oneOfEachKind(plan: readonly RolloutWrite[]): RolloutWrite[] {
  const seen = new Set<string>();
  return plan.filter((write) => {
    const kind = kindOf(write);
    const isNew = !seen.has(kind);
    seen.add(kind);
    return isNew;
  });
}

/** What it is, and what the rollout was at, whatever the step. */
export function kindOf({ verb, resource, name, phase, ordinal }: RolloutWrite): string {
  // Deployments are many and all alike.
  const subject = resource === 'deployments' ? '' : name;
  const isRepeated = resource === 'revisiontags/status' && ordinal > 1;
  return `${verb} ${resource} ${subject} ${phase.replace(/^\d+ % /, '')} ${isRepeated}`;
}
