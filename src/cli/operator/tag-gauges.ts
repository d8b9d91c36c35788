import type { Registry } from 'prom-client';
import { registerMetrics } from '../../server/metrics/register-metrics.ts';
import type { RestartFigures } from '../../operator/ports.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';

/** A gauge of the state of a tag. Every series has the label `tag`. */
interface TagGauge<State> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: (state: State) => readonly (readonly [values: Record<string, string>, figure: number])[];
}

/** The gauges of a rollout. */
export const rolloutGauges: readonly TagGauge<RolloutState>[] = [
  {
    name: 'injector_rollout_phase',
    help: '1 for the current phase of the rollout of a tag. Reported by the leader.',
    labels: ['phase'],
    read: ({ phase }) => [[{ phase }, 1]],
  },
  {
    name: 'injector_rollout_weight',
    help: 'The share of workloads that get the canary, in percent. Reported by the leader.',
    read: ({ weight }) => [[{}, weight]],
  },
  {
    name: 'injector_rollout_workloads',
    help: 'Workloads that follow the tag, by the configuration that they get: stable, canary. Reported by the leader.',
    labels: ['track'],
    read: ({ knownWorkloads, canaryWorkloads }) => [
      [{ track: 'stable' }, knownWorkloads - canaryWorkloads],
      [{ track: 'canary' }, canaryWorkloads],
    ],
  },
  {
    name: 'injector_rollout_pods',
    help: 'Pods that follow the tag, by the configuration that injected them and by state: ready, failing, total (all pods). Reported by the leader.',
    labels: ['track', 'state'],
    read: ({ pods }) =>
      Object.entries(pods).flatMap(([track, counts]) =>
        Object.entries(counts).map(([state, figure]) => [{ track, state }, figure] as const),
      ),
  },
  {
    name: 'injector_rollout_injection_errors',
    help: 'Injections of the canary that failed since the rollout began. Reported by the leader.',
    read: ({ injectionErrors }) => [[{}, injectionErrors]],
  },
];

/** The gauges of the restarts for a tag. */
export const restartGauges: readonly TagGauge<RestartFigures>[] = [
  {
    name: 'injector_restart_phase',
    help: '1 for the current phase of the restarts for a tag: Idle, Restarting, Waiting, Stopped. Reported by the leader.',
    labels: ['phase'],
    read: ({ phase }) => [[{ phase }, 1]],
  },
  {
    name: 'injector_restart_workloads',
    help: 'Workloads that follow a tag that requests restarts, by state: stale, restarting, waiting, failing (waiting because the write fails), untouched. Reported by the leader.',
    labels: ['state'],
    read: ({ counts }) => Object.entries({ ...counts }).map(([state, workloads]) => [{ state }, workloads]),
  },
];

/** Registers gauges that read the states of tags on each scrape. */
export function registerTagGauges<State>(
  registry: Registry,
  gauges: readonly TagGauge<State>[],
  states: ReadonlyMap<string, State>,
): void {
  const { series } = registerMetrics(registry);
  for (const { name, help, labels = [], read } of gauges) {
    series(name, help, ['tag', ...labels], () =>
      [...states].flatMap(([tag, state]) => read(state).map(([values, count]) => [{ tag, ...values }, count] as const)),
    );
  }
}
