import { Gauge, type Registry } from 'prom-client';
import { rolloutEvents } from '../../rollout/transitions.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { OperatorMetrics, RestartFigures } from '../../operator/ports.ts';
import { conditions as conditionTypes } from '../../operator/reasons.ts';
import { registerMetrics } from '../../server/metrics/register-metrics.ts';
import type { UsageFigures } from '../../operator/usage/usage-figures.ts';

/** Creates the controller's metrics. All labels have a bounded number of values. */
export function prometheusOperatorMetrics(registry: Registry): Required<OperatorMetrics> {
  const registers = [registry];
  const { counter, histogram, series } = registerMetrics(registry);
  const gauge = (name: string, labelNames: string[], help: string): Gauge =>
    new Gauge({ name, help, labelNames, registers });
  const reconciles = counter('injector_reconcile_total', 'Passes: Success, Conflict, Error.', 'injector', 'outcome');
  const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const reconcileSeconds = histogram('injector_reconcile_duration_seconds', 'Time of a reconcile.', buckets);
  const queueLength = gauge('injector_queue_length', [], 'Objects that wait for a pass.');
  const leader = gauge('injector_leader', [], '1 while this process is the leader.');
  const applies = counter('injector_applies_total', 'Objects compared; differences are written.', 'kind', 'outcome');
  const conditions = gauge(
    'injector_condition',
    ['injector', 'type'],
    '1 while the condition is True. Reported by the leader.',
  );
  const expiryHelp =
    'When the serving certificate of an InjectorConfig expires unless it is renewed, in Unix time. Reported by the leader.';
  const expiry = gauge('injector_serving_certificate_expiry_timestamp_seconds', ['injector'], expiryHelp);
  const authorityHelp =
    'When the authority of the serving certificate of an InjectorConfig expires unless it is renewed, in Unix time. Reported by the leader.';
  const authorityExpiry = gauge('injector_certificate_authority_expiry_timestamp_seconds', ['injector'], authorityHelp);
  const rotationsHelp =
    'Certificates replaced (success), refused because of the spec or a Secret (refused), or not written (failed).';
  const rotations = counter('injector_certificate_rotations_total', rotationsHelp, 'injector', 'subject', 'result');
  const periods = [1, 5, 10, 30, 60, 65, 70, 90, 120, 300, 600, 3600];
  const confirmationHelp = 'Time until a new authority signs: publication, confirmation by replicas, waiting time.';
  const confirmation = histogram('injector_certificate_confirmation_seconds', confirmationHelp, periods);
  const lists = counter('injector_lists_total', 'Complete lists: initial, and after broken watches.', 'resource');
  const objects = gauge('injector_watched_objects', ['resource'], 'Objects of a collection at its last complete list.');
  const watchEndsHelp = 'Watches that ended: Timeout (on time), Error, Expired, Hung.';
  const watchEnds = counter('injector_watch_ends_total', watchEndsHelp, 'resource', 'reason');
  const podsNotInjectedHelp =
    'New pods without a sidecar although they or their namespace requested one, by reason and InjectorConfig (empty if no InjectorConfig selects the pod). Reported by the leader.';
  const podsNotInjected = counter('injector_pods_not_injected_total', podsNotInjectedHelp, 'injector', 'reason');
  const podEventsOmittedHelp = 'Pods that were not checked, or that got no Event, because there were too many.';
  const podEventsOmitted = counter('injector_pod_events_omitted_total', podEventsOmittedHelp);
  const rolloutEventCountHelp =
    'Events of the rollouts of a tag: RolloutStarted, StepStarted, RolledBack, Promoted and others. Reported by the leader.';
  const rolloutEventCount = counter('injector_rollout_events_total', rolloutEventCountHelp, 'tag', 'reason');
  const heldPodsHelp =
    'Pods that wait for their sidecar, because the webhook could not be called when they were created (failurePolicy Hold). Reported by the leader.';
  const heldPods = gauge('injector_held_pods', ['injector'], heldPodsHelp);
  const restarted = counter('injector_restarts_total', 'Workloads restarted for a tag, by the leader.', 'tag');
  const podsUpdatedHelp =
    'Pods updated in place for a tag, by result: completed, failed (the update was taken back). Reported by the leader.';
  const podsUpdated = counter('injector_pod_updates_total', podsUpdatedHelp, 'tag', 'result');
  /** The state of the rollout of each tag. */
  const rollouts = new Map<string, RolloutState>();
  const restarts = new Map<string, RestartFigures>();
  /** Registers gauges that read the states of tags on each scrape. */
  const tagSeries = <State>(gauges: readonly TagGauge<State>[], states: ReadonlyMap<string, State>): void => {
    for (const { name, help, labels = [], read } of gauges)
      series(name, help, ['tag', ...labels], () =>
        [...states].flatMap(([tag, state]) => read(state).map(([own, count]) => [{ tag, ...own }, count] as const)),
      );
  };
  tagSeries(restartGauges, restarts);
  tagSeries(rolloutGauges, rollouts);
  let readUsage: () => UsageFigures | undefined = () => undefined;
  series(
    'injector_pods',
    'Pods by the InjectorConfig that injected them or should have injected them (empty if deleted), the tag that they follow, and their state compared with a new pod: current, stale, missing. Reported by the leader.',
    ['injector', 'tag', 'state'],
    () =>
      (readUsage()?.pods ?? []).flatMap(({ injectorConfig: injector, tag, counts }) =>
        Object.entries(counts).map(([state, pods]) => [{ injector, tag, state }, pods] as const),
      ),
  );
  series(
    'injector_namespace_pods',
    'Pods by namespace, each pod once, in the worst of its states in injector_pods: the 100 namespaces with the most stale and missing pods, and (others). Reported by the leader.',
    ['namespace', 'state'],
    () =>
      (readUsage()?.namespaces ?? []).flatMap(({ namespace, counts }) =>
        Object.entries(counts).map(([state, pods]) => [{ namespace, state }, pods] as const),
      ),
  );
  return {
    rollout(tag, state) {
      // Without a zero, increase() would miss the first event.
      if (state !== undefined && !rollouts.has(tag)) {
        for (const reason of Object.keys(rolloutEvents)) rolloutEventCount.inc({ tag, reason }, 0);
      }
      setOrDelete(rollouts, tag, state);
    },
    rolloutEvent: (tag, reason) => rolloutEventCount.inc({ tag, reason }),
    restarted: (tag, workloads) => restarted.inc({ tag }, workloads),
    podsUpdated: (tag, result, pods) => podsUpdated.inc({ tag, result }, pods),
    restarts: (tag, figures) => setOrDelete(restarts, tag, figures),
    usageFrom: (read) => void (readUsage = read),
    podNotInjected: (injector, reason) => podsNotInjected.inc({ injector, reason }),
    podEventOmitted: () => podEventsOmitted.inc(),
    held(injector, pods) {
      if (pods === 0) heldPods.remove({ injector });
      else heldPods.set({ injector }, pods);
    },
    reconciled(injector, outcome, seconds) {
      reconciles.inc({ injector, outcome });
      reconcileSeconds.observe(seconds);
    },
    queued: (length) => queueLength.set(length),
    leading(isLeading) {
      leader.set(isLeading ? 1 : 0);
      if (isLeading) return;
      // Another leader may now change or delete the objects.
      rollouts.clear();
      restarts.clear();
      for (const each of [conditions, expiry, authorityExpiry, heldPods]) each.reset();
    },
    applied: (kind, outcome) => applies.inc({ kind, outcome }),
    conditions(injector, states) {
      for (const [type, isTrue] of states) conditions.set({ injector, type }, isTrue ? 1 : 0);
    },
    certificateExpires(injector, notAfter, caNotAfter) {
      expiry.set({ injector }, notAfter.getTime() / 1000);
      authorityExpiry.set({ injector }, caNotAfter.getTime() / 1000);
    },
    certificateRotated: (injector, subject, result) => rotations.inc({ injector, subject, result }),
    authorityConfirmed: (seconds) => confirmation.observe(seconds),
    forget(injector) {
      for (const type of Object.keys(conditionTypes)) conditions.remove({ injector, type });
      expiry.remove({ injector });
      heldPods.remove({ injector });
      authorityExpiry.remove({ injector });
      for (const subject of ['leaf', 'authority']) {
        for (const result of ['success', 'refused', 'failed']) rotations.remove({ injector, subject, result });
      }
      for (const outcome of ['Success', 'Conflict', 'Error']) reconciles.remove({ injector, outcome });
    },
    listed(resource, count) {
      lists.inc({ resource });
      objects.set({ resource }, count);
    },
    watchEnded: (resource, reason) => watchEnds.inc({ resource, reason }),
  };
}

function setOrDelete<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** A gauge of the state of a tag. Every series has the label `tag`. */
interface TagGauge<State> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: (state: State) => readonly (readonly [values: Record<string, string>, figure: number])[];
}

/** The gauges of a rollout. */
const rolloutGauges: readonly TagGauge<RolloutState>[] = [
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
const restartGauges: readonly TagGauge<RestartFigures>[] = [
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
