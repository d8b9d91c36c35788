import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { RestartStatus, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { Rehearsal } from '../inject/injection-result.ts';
import type { ReplicaLeases } from './replicas/replica-leases.ts';
import type { ConfigurationOutline, Injector } from '../inject/injector.ts';
import type { TypicalPod } from '../inject/rehearsal/typical-pods.ts';
import type { WatchObserver } from '../kube/ports.ts';
import type { RestartCounts } from '../rollout/restarts.ts';
import type { UsageFigures } from './usage/usage-figures.ts';

/**
 * Compiles a configuration. In a serving process, yields to admissions while it works.
 * @throws ConfigurationError with the key and, if known, the line and column
 */
export type LoadConfiguration = (files: ConfigurationFiles) => Promise<Injector>;

/**
 * Tries a configuration without loading it, since a controller injects no pods. The result has the
 * injected typical pods, unless they are too large. @throws ConfigurationError as above
 */
export type TryConfiguration = (files: ConfigurationFiles) => Promise<ConfigurationOutline>;

/** Injects pods with a configuration. Rejects if the trial fails. */
export type RehearsePods = (files: ConfigurationFiles, pods: readonly TypicalPod[]) => Promise<Rehearsal>;

/** The state of all replicas, from their Leases. */
export type ReplicaReports = Omit<ReplicaLeases, 'start' | 'stop'>;

/** The restarts for a tag, for metrics. */
export interface RestartFigures {
  readonly phase: RestartStatus['phase'];
  /** The number of workloads by restart state. */
  readonly counts: RestartCounts;
}

/** Metrics of the controller. Labels are bounded: names of InjectorConfigs, kinds, outcomes. */
export interface OperatorMetrics extends WatchObserver {
  reconciled?(name: string, outcome: 'Success' | 'Conflict' | 'Error', seconds: number): void;
  queued?(length: number): void;
  leading?(leading: boolean): void;
  applied?(kind: string, outcome: string): void;
  /** The conditions of an InjectorConfig after a pass, as a map from type to whether it is True. */
  conditions?(name: string, conditions: ReadonlyMap<string, boolean>): void;
  /** The expiry of the serving certificate and of the authority that signed it. */
  certificateExpires?(name: string, notAfter: Date, caNotAfter: Date): void;
  /** The result for a leaf or authority: replaced (`success`), refused, not written (`failed`). */
  certificateRotated?(name: string, subject: 'leaf' | 'authority', result: 'success' | 'refused' | 'failed'): void;
  /** A staged authority begins to sign. @param seconds the time since it was staged */
  authorityConfirmed?(seconds: number): void;
  /** A pod was not injected. `injectorConfig` is empty if no InjectorConfig selects the pod. */
  podNotInjected?(injectorConfig: string, reason: string): void;
  /** A pod was not examined, or its Event was dropped, because a limit was reached. */
  podEventOmitted?(): void;
  /** Registers a function that returns the usage, or undefined while this process is no leader. */
  usageFrom?(read: () => UsageFigures | undefined): void;
  /** The state of a tag's rollout after a pass; undefined if the tag has no rollout. */
  rollout?(tag: string, state: RolloutState | undefined): void;
  /** An Event in the rollout of a tag, such as a step, a rollback or a promotion. */
  rolloutEvent?(tag: string, reason: string): void;
  /** The restarts for a tag after a pass; undefined if the tag requests no restarts. */
  restarts?(tag: string, figures: RestartFigures | undefined): void;
  /** The number of workloads that a pass restarted; 0 when the tag first requests restarts. */
  restarted?(tag: string, workloads: number): void;
  /** Updates of pods in place that ended, by result; 0 when the tag first requests updates. */
  podsUpdated?(tag: string, result: 'completed' | 'failed', pods: number): void;
  /** The number of pods that wait for their sidecar because of failurePolicy Hold; 0 at the end. */
  held?(name: string, pods: number): void;
  /** Drops the series of a deleted InjectorConfig. */
  forget?(name: string): void;
}
