export interface WantedStep {
  readonly weight: number;
  readonly isShadow?: boolean;
  readonly pauseSeconds?: number;
}

export interface Plan {
  readonly name: string;
  readonly steps: readonly WantedStep[];
  /** Whether the operator restarts the workloads; otherwise a person has all pods made again once a step has begun. */
  readonly isRestarting?: true;
  readonly end: 'Promoted' | 'Aborted' | 'PodsFailing';
}

/** A person resumes each step. */
export const byPerson: Plan = {
  name: 'by a person',
  steps: [{ weight: 25 }, { weight: 60 }],
  end: 'Promoted',
};

/** Fewer steps: nothing is restarted for some seconds after each move of the webhook. */
export const byOperator: Plan = {
  name: 'by the operator',
  steps: [{ weight: 25 }],
  isRestarting: true,
  end: 'Promoted',
};

/** Compared first, paused for a time then, aborted in its last step. */
export const aborted: Plan = {
  name: 'with a shadow step and a timed pause, aborted',
  steps: [{ weight: 0, isShadow: true }, { weight: 25, pauseSeconds: 15 }, { weight: 60 }],
  end: 'Aborted',
};

/** Its pods crash; the operator restarts the two workloads back that got it, one after the other. */
export const failing: Plan = {
  name: 'to a revision whose pods crash',
  steps: [{ weight: 15 }],
  end: 'PodsFailing',
};

export const minReadySeconds = 1;
/** More than there are workloads: every one of the share has to be made again before a step may end; and all of them more than once for a shadow step. */
export const minimumPods = 20;

/** `spec.strategy` of a RevisionTag for that. */
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

/** Where a rollout goes to: back and forth between two, unless it is to fail. */
export function directionOf({ end }: Plan, from: string): Direction {
  return { from, to: end === 'PodsFailing' ? failingName : from === 'v1' ? 'v2' : 'v1' };
}
