import type { ChainFault, ServingPair } from '../certs/verify-chain.ts';
import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { RestartStatus, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { ReportedFailure } from './replicas/failures-annotation.ts';
import type { RolloutPair, ShadowReport } from '../rollout/shadow-report.ts';
import type { NodeFacts } from '../inject/injection-request.ts';
import type { Injector } from '../inject/injector.ts';
import type { TypicalPod } from '../inject/rehearsal/typical-pods.ts';
import type { WatchObserver } from '../kube/ports.ts';
import type { RestartCounts } from '../rollout/restarts.ts';
import type { PathFormat } from '../routing/route.ts';
import type { UsageFigures } from './usage/usage-figures.ts';

/** The compiled injectors in memory: the replica fills it, the server reads it for each admission. */
export interface InjectorRegistryPort {
  get(name: string, hash8: string): Injector | undefined;
  set(name: string, hash8: string, injector: Injector): void;
  delete(name: string, hash8: string): void;
}

/**
 * Loads a configuration. In a process that answers admissions it lets them have their turn meanwhile.
 * @throws ConfigurationError naming the key, and where there is one the line and column.
 */
export type LoadConfiguration = (files: ConfigurationFiles) => Promise<Injector>;

/** What pods of the cluster say against a configuration. Rejects when they could not be tried. */
export type RehearsePods = (files: ConfigurationFiles, pods: readonly TypicalPod[]) => Promise<readonly string[]>;

/** The serving certificates in memory: the replica fills it, the server's TLS listener chooses from it. */
export interface ServingCertificatesPort {
  /** Takes a pair over if it can serve; the faults for which it was refused, none when it is served. */
  offer(owner: string, pair: ServingPair, now: Date): readonly ChainFault[];
  remove(owner: string): void;
  /** What is served: who each was offered for, and SHA-256 of its leaf in hex. */
  all(): readonly { readonly owner: string; readonly fingerprint: string }[];
}

/** What the server may know of the cluster's nodes, from memory. */
export interface NodeSource {
  nodes(): readonly NodeFacts[];
}

/** What one live replica says that it can answer for one InjectorConfig. */
export interface ReplicaReport {
  /** Its identity: the name of its pod. */
  readonly replica: string;
  /** On its way out: it still answers, and its Lease goes in a moment. */
  readonly isDraining: boolean;
  /** Hashes of the configurations in memory. */
  readonly hashes: readonly string[];
  /** SHA-256 of the certificate that it serves, in hex; absent while it has none. */
  readonly certificate?: string;
}

/** Which replicas serve what, as their Leases say. */
export interface ReplicaReports {
  /**
   * The live replicas that could not answer a pod of this configuration yet: they lack the injector or the certificate of InjectorConfig `name`.
   * The first five by name, then how many more. With no live replica at all one entry says so; empty means that the webhook may point there.
   * @param fingerprint of the certificate that it must be; any when undefined
   */
  lacking(name: string, hash: string, fingerprint?: string): readonly string[];
  synced(): Promise<void>;
  /** The newest path format that every live replica reads; a text when there is none: which replicas read what. */
  pathFormat(): PathFormat | string;
  /** All live replicas, by name; of the validating webhook's certificate under `(validator)`. Empty before anything is known. */
  replicas(name: string): readonly ReplicaReport[];
  /** What replicas found when they rendered pods by both configurations of a rollout, in sum; zeros when nobody has. */
  shadowReport(pair: RolloutPair): ShadowReport;
  /** The pods that a configuration could not inject in the last minutes, by its own fault; undefined when there are none. */
  failures(name: string, hash: string): ReportedFailure | undefined;
  /** Is told after each change of what is served, and of which configurations fail. */
  subscribe(listener: () => void): void;
  /** Clears away what replicas that are gone have left behind; resolves with the milliseconds until it wants to be called again. */
  removeExpired(signal: AbortSignal): Promise<number>;
}

/** What can be drawn of the restarts for a tag. */
export interface RestartFigures {
  readonly phase: RestartStatus['phase'];
  /** Workloads by what is done about them. */
  readonly counts: RestartCounts;
}

/** Figures about the controller. Labels are bounded: names of InjectorConfigs, kinds, outcomes. */
export interface OperatorMetrics extends WatchObserver {
  reconciled?(name: string, outcome: 'Success' | 'Conflict' | 'Error', seconds: number): void;
  queued?(length: number): void;
  leading?(leading: boolean): void;
  applied?(kind: string, outcome: string): void;
  /** The conditions of an InjectorConfig after a reconcile: type → holds. */
  conditions?(name: string, conditions: ReadonlyMap<string, boolean>): void;
  /** When what is served expires, and the authority that signed it. */
  certificateExpires?(name: string, notAfter: Date, caNotAfter: Date): void;
  /** A leaf was replaced or an authority swapped; or something new was refused, or could not be written. */
  certificateRotated?(name: string, subject: 'leaf' | 'authority', result: 'success' | 'refused' | 'failed'): void;
  /** An authority was staged so many seconds ago and signs now. */
  authorityConfirmed?(seconds: number): void;
  /** A pod that asked for injection, or whose namespace did, is there without it; `injectorConfig` is empty when none takes it. */
  podNotInjected?(injectorConfig: string, reason: string): void;
  /** A pod was not looked at, or no Event was written about it, since there were too many. */
  podEventOmitted?(): void;
  /** Where the figures about usage are to be read; they are undefined while another process leads. */
  usageFrom?(read: () => UsageFigures | undefined): void;
  /** How the rollout of a tag stands after a pass over it; undefined: it has none. */
  rollout?(tag: string, state: RolloutState | undefined): void;
  /** Something happened in the rollout of a tag: a step, a rollback, a promotion. */
  rolloutEvent?(tag: string, reason: string): void;
  /** How the restarts for a tag stand after a pass; undefined: it asks for none. */
  restarts?(tag: string, figures: RestartFigures | undefined): void;
  /** So many workloads were restarted for a tag; 0 when it is first seen to ask for it. */
  restarted?(tag: string, workloads: number): void;
  /** An InjectorConfig is gone: forget its series. */
  forget?(name: string): void;
}
