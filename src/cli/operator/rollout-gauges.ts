import type { RolloutState } from '../../api/rollout-status.ts';

/** A gauge that shows the rollouts of tags; every series has label `tag`. */
interface RolloutGauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly of: (state: RolloutState) => readonly (readonly [values: Record<string, string>, figure: number])[];
}

/** What can be drawn of a rollout. */
export const rolloutGauges: readonly RolloutGauge[] = [
  {
    name: 'injector_rollout_phase',
    help: '1 for the phase in which the rollout of a tag is. Of the leader.',
    labels: ['phase'],
    of: ({ phase }) => [[{ phase }, 1]],
  },
  {
    name: 'injector_rollout_weight',
    help: 'The share of the workloads that is to get the canary, in percent. Of the leader.',
    labels: [],
    of: ({ weight }) => [[{}, weight]],
  },
  {
    name: 'injector_rollout_workloads',
    help: 'Workloads that follow the tag, by what they are to get. Of the leader.',
    labels: ['track'],
    of: ({ knownWorkloads, canaryWorkloads }) => [
      [{ track: 'stable' }, knownWorkloads - canaryWorkloads],
      [{ track: 'canary' }, canaryWorkloads],
    ],
  },
  {
    name: 'injector_rollout_pods',
    help: 'Pods that follow the tag, by what injected them and how they do. Of the leader.',
    labels: ['track', 'state'],
    of: ({ pods }) =>
      Object.entries(pods).flatMap(([track, counts]) =>
        Object.entries(counts).map(([state, figure]) => [{ track, state }, figure] as const),
      ),
  },
  {
    name: 'injector_rollout_injection_errors',
    help: 'Injections of the canary that failed since the rollout began. Of the leader.',
    labels: [],
    of: ({ injectionErrors }) => [[{}, injectionErrors]],
  },
];
