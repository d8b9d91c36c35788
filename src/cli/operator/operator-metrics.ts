import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RolloutState } from '../../api/revision-tag/rollout-status.ts';
import type { WatchEnd } from '../../kube/ports.ts';
import type { OperatorMetrics, RestartFigures } from '../../operator/ports.ts';
import { registerTagGauges, restartGauges, rolloutGauges } from './tag-gauges.ts';
import type { UsageFigures } from '../../operator/usage/usage-figures.ts';

/** What can happen in a rollout, as its Events say. */
const rolloutReasons = [
  'RolloutStarted',
  'StepStarted',
  'RolloutPaused',
  'RolloutResumed',
  'Promoted',
  'RolledBack',
  'RolloutAborted',
  'ActionRefused',
];

/** The controller's figures for Prometheus. Labels are bounded: names of InjectorConfigs and tags, kinds, conditions, outcomes, 100 namespaces. */
export class PrometheusOperatorMetrics implements OperatorMetrics {
  readonly #reconciles;
  readonly #reconcileSeconds;
  readonly #queueLength;
  readonly #leader;
  readonly #applies;
  readonly #conditions;
  readonly #expiry;
  readonly #authorityExpiry;
  readonly #rotations;
  readonly #confirmation;
  readonly #lists;
  readonly #objects;
  readonly #watchEnds;
  readonly #podsNotInjected;
  readonly #podEventsOmitted;
  readonly #rolloutEvents;
  readonly #restarted;
  /** By tag. */
  readonly #rollouts = new Map<string, RolloutState>();
  readonly #restarts = new Map<string, RestartFigures>();
  #readUsage: () => UsageFigures | undefined = () => undefined;
  /** The condition types written per InjectorConfig, so that its series can be forgotten with it. */
  readonly #conditionTypes = new Map<string, Set<string>>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#reconciles = new Counter({
      name: 'injector_reconcile_total',
      help: 'Reconciles by InjectorConfig and outcome.',
      labelNames: ['injector', 'outcome'],
      registers,
    });
    this.#reconcileSeconds = new Histogram({
      name: 'injector_reconcile_duration_seconds',
      help: 'Time of a reconcile.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#queueLength = new Gauge({
      name: 'injector_queue_length',
      help: 'Objects that wait to be reconciled.',
      registers,
    });
    this.#leader = new Gauge({ name: 'injector_leader', help: '1 while this process leads.', registers });
    this.#applies = new Counter({
      name: 'injector_applies_total',
      help: 'Objects compared with the cluster by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      registers,
    });
    this.#conditions = new Gauge({
      name: 'injector_condition',
      help: '1 while the condition of an InjectorConfig holds.',
      labelNames: ['injector', 'type'],
      registers,
    });
    this.#expiry = new Gauge({
      name: 'injector_serving_certificate_expiry_timestamp_seconds',
      help: 'When the serving certificate of an InjectorConfig expires unless it is renewed, in Unix time.',
      labelNames: ['injector'],
      registers,
    });
    this.#authorityExpiry = new Gauge({
      name: 'injector_certificate_authority_expiry_timestamp_seconds',
      help: 'When the authority of the serving certificate of an InjectorConfig expires unless it is renewed, in Unix time.',
      labelNames: ['injector'],
      registers,
    });
    this.#rotations = new Counter({
      name: 'injector_certificate_rotations_total',
      help: 'Certificates replaced (success), refused for what the spec or a Secret says (refused), or not written (failed).',
      labelNames: ['injector', 'subject', 'result'],
      registers,
    });
    this.#confirmation = new Histogram({
      name: 'injector_certificate_confirmation_seconds',
      help: 'Time from when an authority was staged to when it signs: published, read back everywhere, and waited for.',
      buckets: [1, 5, 10, 30, 60, 65, 70, 90, 120, 300, 600, 3600],
      registers,
    });
    this.#lists = new Counter({
      name: 'injector_lists_total',
      help: 'Complete lists of a collection: one at the start, one after each watch that could not be resumed.',
      labelNames: ['resource'],
      registers,
    });
    this.#objects = new Gauge({
      name: 'injector_watched_objects',
      help: 'Objects of a collection at its last complete list.',
      labelNames: ['resource'],
      registers,
    });
    this.#watchEnds = new Counter({
      name: 'injector_watch_ends_total',
      help: 'Watches that ended, by reason.',
      labelNames: ['resource', 'reason'],
      registers,
    });
    this.#podsNotInjected = new Counter({
      name: 'injector_pods_not_injected_total',
      help: 'New pods that asked for injection, or whose namespace did, and have none, by InjectorConfig (empty when none takes the pod) and reason. Of the leader.',
      labelNames: ['injector', 'reason'],
      registers,
    });
    this.#podEventsOmitted = new Counter({
      name: 'injector_pod_events_omitted_total',
      help: 'Pods that were not injected and about which no Event was written, since there were too many.',
      registers,
    });
    this.#rolloutEvents = new Counter({
      name: 'injector_rollout_events_total',
      help: 'What happened in the rollouts of a tag: RolloutStarted, StepStarted, RolledBack, Promoted and others. Of the leader.',
      labelNames: ['tag', 'reason'],
      registers,
    });
    this.#restarted = new Counter({
      name: 'injector_restarts_total',
      help: 'Workloads that were restarted for a tag, since their pods were stale. Of the leader.',
      labelNames: ['tag'],
      registers,
    });
    registerTagGauges(registry, restartGauges, this.#restarts);
    registerTagGauges(registry, rolloutGauges, this.#rollouts);
    const readUsage = (): UsageFigures | undefined => this.#readUsage();
    new Gauge({
      name: 'injector_pods',
      help: 'Pods by the InjectorConfig that injected them (or would; empty: one that is gone), the tag that they follow and whether they have what they would get now. Of the leader.',
      labelNames: ['injector', 'tag', 'state'],
      registers,
      collect() {
        this.reset();
        for (const { injectorConfig, tag, counts } of readUsage()?.pods ?? []) {
          for (const [state, pods] of Object.entries(counts)) this.set({ injector: injectorConfig, tag, state }, pods);
        }
      },
    });
    new Gauge({
      name: 'injector_namespace_pods',
      help: 'The same pods by namespace: the 100 in which most is to be done, and (others). Of the leader.',
      labelNames: ['namespace', 'state'],
      registers,
      collect() {
        this.reset();
        for (const { namespace, counts } of readUsage()?.namespaces ?? []) {
          for (const [state, pods] of Object.entries(counts)) this.set({ namespace, state }, pods);
        }
      },
    });
  }

  rollout(tag: string, state: RolloutState | undefined): void {
    if (state === undefined) this.#rollouts.delete(tag);
    else {
      // A counter that begins at its first event shows no increase.
      if (!this.#rollouts.has(tag)) for (const reason of rolloutReasons) this.#rolloutEvents.inc({ tag, reason }, 0);
      this.#rollouts.set(tag, state);
    }
  }

  rolloutEvent(tag: string, reason: string): void {
    this.#rolloutEvents.inc({ tag, reason });
  }

  restarted(tag: string, workloads: number): void {
    this.#restarted.inc({ tag }, workloads);
  }

  restarts(tag: string, figures: RestartFigures | undefined): void {
    if (figures === undefined) this.#restarts.delete(tag);
    else this.#restarts.set(tag, figures);
  }

  usageFrom(read: () => UsageFigures | undefined): void {
    this.#readUsage = read;
  }

  podNotInjected(injectorConfig: string, reason: string): void {
    this.#podsNotInjected.inc({ injector: injectorConfig, reason });
  }

  podEventOmitted(): void {
    this.#podEventsOmitted.inc();
  }

  reconciled(name: string, outcome: 'Success' | 'Error', seconds: number): void {
    this.#reconciles.inc({ injector: name, outcome });
    this.#reconcileSeconds.observe(seconds);
  }

  queued(length: number): void {
    this.#queueLength.set(length);
  }

  leading(leading: boolean): void {
    this.#leader.set(leading ? 1 : 0);
    // Whoever leads tells how rollouts and restarts stand.
    if (leading) return;
    this.#rollouts.clear();
    this.#restarts.clear();
  }

  applied(kind: string, outcome: string): void {
    this.#applies.inc({ kind, outcome });
  }

  conditions(name: string, conditions: ReadonlyMap<string, boolean>): void {
    const types = this.#conditionTypes.get(name) ?? new Set();
    this.#conditionTypes.set(name, types);
    for (const [type, holds] of conditions) {
      types.add(type);
      this.#conditions.set({ injector: name, type }, holds ? 1 : 0);
    }
  }

  certificateExpires(name: string, notAfter: Date, caNotAfter: Date): void {
    this.#expiry.set({ injector: name }, notAfter.getTime() / 1000);
    this.#authorityExpiry.set({ injector: name }, caNotAfter.getTime() / 1000);
  }

  certificateRotated(name: string, subject: 'leaf' | 'authority', result: 'success' | 'refused' | 'failed'): void {
    this.#rotations.inc({ injector: name, subject, result });
  }

  authorityConfirmed(seconds: number): void {
    this.#confirmation.observe(seconds);
  }

  forget(name: string): void {
    for (const type of this.#conditionTypes.get(name) ?? []) this.#conditions.remove({ injector: name, type });
    this.#conditionTypes.delete(name);
    this.#expiry.remove({ injector: name });
    this.#authorityExpiry.remove({ injector: name });
    for (const subject of ['leaf', 'authority']) {
      for (const result of ['success', 'refused', 'failed'])
        this.#rotations.remove({ injector: name, subject, result });
    }
    for (const outcome of ['Success', 'Error']) this.#reconciles.remove({ injector: name, outcome });
  }

  listed(plural: string, objects: number): void {
    this.#lists.inc({ resource: plural });
    this.#objects.set({ resource: plural }, objects);
  }

  watchEnded(plural: string, reason: WatchEnd): void {
    this.#watchEnds.inc({ resource: plural, reason });
  }
}
