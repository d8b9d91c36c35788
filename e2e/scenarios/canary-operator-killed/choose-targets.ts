import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { aborted, failing, type Plan } from './plans.ts';
import { anyName, tag, type RolloutWrite } from './writes.ts';

export interface Trial {
  readonly plan: Plan;
  readonly targets: readonly RolloutWrite[];
  /** Whether the killed leader restarts immediately, or only after another controller leads. */
  readonly isRestarted: boolean;
  /** Whether a leader is also killed near the end of a timed pause. */
  readonly isKilledInPause?: boolean;
}

/** The writes of usage statistics, which each new leader makes at any time. */
const usages = ['v1', 'v2'].map((name) => patchOf('injectorconfigs/status', name, ''));

/** The maximum number of kills per rollout; small, so that each new leader makes progress. */
const perRollout = 4;

/**
 * Returns trials with a kill after every write. They also cover a kill before each write, because
 * the API server then has the same state as after the previous write.
 */
export function everyTrial(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  return spread(writes).map((targets) => ({ plan, targets, isRestarted: true, isKilledInPause: true }));
}

/** Returns trials with kills after writes of usage statistics, which belong to no rollout. */
export function usageTrials(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  return usages.map((target) => ({ plan, targets: [...writes.slice(0, 1), target], isRestarted: true }));
}

/** Returns trials with a kill after one write of each object; another controller then leads. */
export function otherLeaderTrials(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  const first = firstOfEach(writes, ({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  return first.map((target) => ({ plan, targets: [target], isRestarted: false }));
}

/** Returns trials with a kill after one write of each kind. */
export function someTrials(plan: Plan, writes: readonly RolloutWrite[]): Trial[] {
  const [first, ...others] = oneOfEachKind(writes);
  const targets = first === undefined ? spread(others) : [[first, ...usages.slice(0, 1)], ...spread(others)];
  return targets.map((each) => ({ plan, targets: each, isRestarted: true }));
}

/** Trials with a shadow step, a timed pause, an abort, and a rollback because pods fail. */
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

/** Numbers restarts instead of naming workloads: timing decides which workloads are restarted. */
export function byOrder(writes: readonly RolloutWrite[]): RolloutWrite[] {
  const counts = new Map<string, number>();
  return writes.map((write) => {
    if (write.restart === undefined) return write;
    const ordinal = (counts.get(write.phase) ?? 0) + 1;
    counts.set(write.phase, ordinal);
    return { ...write, name: anyName, ordinal };
  });
}

/** Returns the writes whose kind does not occur in `known`. */
export function othersThan(known: readonly RolloutWrite[], writes: readonly RolloutWrite[]): RolloutWrite[] {
  const kinds = new Set(known.map(kindOf));
  return writes.filter((write) => !kinds.has(kindOf(write)));
}

/** Returns the first write of each kind, in the given order. */
export function oneOfEachKind(writes: readonly RolloutWrite[]): RolloutWrite[] {
  return firstOfEach(writes, kindOf);
}

/** Returns the kind of a write: the object and the phase, independent of the step. */
export function kindOf({ verb, resource, name, phase }: RolloutWrite): string {
  // Deployments are interchangeable.
  const subject = resource === 'deployments' ? '' : name;
  return `${verb} ${resource} ${subject} ${phase.replace(/^\d+ % /, '')}`;
}

/** Reports whether the operator may skip this write: it does so if all pods are already ready. */
export function mayBeSkipped({ resource, phase }: RolloutWrite): boolean {
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

/** Returns the writes of the tag's status and of its webhook in a phase. */
function bothIn(phase: string): RolloutWrite[] {
  return [statusIn(phase), patchOf('mutatingwebhookconfigurations', tagWebhookConfiguration(tag), phase)];
}
