import type { Registry } from 'prom-client';
import { registerMetrics } from '../../server/metrics/register-metrics.ts';
import type { RestartFigures } from '../../operator/ports.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';

/** A gauge that shows a state of tags; every series has label `tag`. */
interface TagGauge<State> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly of: (state: State) => readonly (readonly [values: Record<string, string>, figure: number])[];
}

/** What can be drawn of a rollout. */
export const rolloutGauges: readonly TagGauge<RolloutState>[] = [
  {
    name: 'injector_rollout_phase',
    help: '1 for the phase in which the rollout of a tag is. Of the leader.',
    labels: ['phase'],
    of: ({ phase }) => [[{ phase }, 1]],
  },
  {
    name: 'injector_rollout_weight',
    help: 'The share of the workloads that is to get the canary, in percent. Of the leader.',
    of: ({ weight }) => [[{}, weight]],
  },
  {
    name: 'injector_rollout_workloads',
    help: 'Workloads that follow the tag, by what they are to get: stable, canary. Of the leader.',
    labels: ['track'],
    of: ({ knownWorkloads, canaryWorkloads }) => [
      [{ track: 'stable' }, knownWorkloads - canaryWorkloads],
      [{ track: 'canary' }, canaryWorkloads],
    ],
  },
  {
    name: 'injector_rollout_pods',
    help: 'Pods that follow the tag, by what injected them: ready, failing, and total, which has those too. Of the leader.',
    labels: ['track', 'state'],
    of: ({ pods }) =>
      Object.entries(pods).flatMap(([track, counts]) =>
        Object.entries(counts).map(([state, figure]) => [{ track, state }, figure] as const),
      ),
  },
  {
    name: 'injector_rollout_injection_errors',
    help: 'Injections of the canary that failed since the rollout began. Of the leader.',
    of: ({ injectionErrors }) => [[{}, injectionErrors]],
  },
];

/** What can be drawn of the restarts that tags ask for. Labels are names of tags, phases and states. */
export const restartGauges: readonly TagGauge<RestartFigures>[] = [
  {
    name: 'injector_restart_phase',
    help: '1 for the phase in which the restarts for a tag are: Idle, Restarting, Waiting, Stopped. Of the leader.',
    labels: ['phase'],
    of: ({ phase }) => [[{ phase }, 1]],
  },
  {
    name: 'injector_restart_workloads',
    help: 'Workloads that follow a tag that asks for restarts, by what is done about them: stale, restarting, waiting (of these failing: it cannot be written), untouched. Of the leader.',
    labels: ['state'],
    of: ({ counts }) => Object.entries({ ...counts }).map(([state, workloads]) => [{ state }, workloads]),
  },
];

/** Draws the states of tags as they are when somebody asks. */
export function registerTagGauges<State>(
  registry: Registry,
  gauges: readonly TagGauge<State>[],
  states: ReadonlyMap<string, State>,
): void {
  const { series } = registerMetrics(registry);
  for (const { name, help, labels = [], of } of gauges) {
    series(name, help, ['tag', ...labels], () =>
      [...states].flatMap(([tag, state]) => of(state).map(([values, figure]) => [{ tag, ...values }, figure] as const)),
    );
  }
}
