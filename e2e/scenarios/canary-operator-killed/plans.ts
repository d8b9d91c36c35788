export interface PlannedStep {
  readonly weight: number;
  readonly isShadow?: boolean;
  readonly pauseSeconds?: number;
}

export interface Plan {
  readonly name: string;
  readonly steps: readonly PlannedStep[];
  /** Whether the operator restarts workloads; otherwise a user recreates all pods in each step. */
  readonly isRestarting?: true;
  readonly end: 'Promoted' | 'Aborted' | 'PodsFailing';
}

/** A user resumes each step. */
export const byPerson: Plan = { name: 'by a user', steps: [{ weight: 25 }, { weight: 60 }], end: 'Promoted' };

/** One step, because after a webhook update the operator waits for seconds before restarts. */
export const byOperator: Plan = {
  name: 'by the operator',
  steps: [{ weight: 25 }],
  isRestarting: true,
  end: 'Promoted',
};

/** Returns a plan with a shadow step, then a timed pause, then a step that a user aborts. */
export function aborted(pauseSeconds: number): Plan {
  return {
    name: 'with a shadow step and a timed pause, aborted',
    steps: [{ weight: 0, isShadow: true }, { weight: 25, pauseSeconds }, { weight: 60 }],
    end: 'Aborted',
  };
}

/** The canary pods crash. The operator restarts the two affected workloads one by one. */
export const failing: Plan = { name: 'to a revision whose pods crash', steps: [{ weight: 15 }], end: 'PodsFailing' };

export const minReadySeconds = 1;
/** More than the number of workloads, so that a step needs new pods from its whole share. */
export const minimumPods = 20;

/** Returns `spec.strategy` of a RevisionTag for a plan. */
export function strategyOf({ steps, isRestarting, end }: Plan): Record<string, unknown> {
  const canary = {
    steps: steps.map(({ weight, isShadow, pauseSeconds }) => {
      if (isShadow === true) return { weight, shadow: true };
      return { weight, pause: pauseSeconds === undefined ? 'UntilResumed' : `${pauseSeconds}s` };
    }),
    analysis: { minimumPods, minReadySeconds },
  };
  const restart = { maxUnavailableWorkloads: 5, perNamespace: 5, minReadySeconds: 0 };
  if (end === 'PodsFailing') return { canary, rollback: { restart: 'Canary' } };
  return isRestarting === true ? { canary, restart } : { canary };
}

export interface Direction {
  readonly from: string;
  readonly to: string;
}

export const failingName = 'v3';

/** Returns the direction of a rollout: alternating, or to the failing revision. */
export function directionOf({ end }: Plan, from: string): Direction {
  return { from, to: end === 'PodsFailing' ? failingName : from === 'v1' ? 'v2' : 'v1' };
}
