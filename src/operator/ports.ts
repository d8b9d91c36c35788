import type { ChainFault, ServingPair } from '../certs/verify-chain.ts';
import type { NodeFacts } from '../inject/injection-request.ts';
import type { Injector } from '../inject/injector.ts';
import type { WatchObserver } from '../kube/ports.ts';

/** The compiled injectors in memory: the replica fills it, the server reads it for each admission. */
export interface InjectorRegistryPort {
  get(name: string, hash8: string): Injector | undefined;
  set(name: string, hash8: string, injector: Injector): void;
  delete(name: string, hash8: string): void;
}

/** The serving certificates in memory: the replica fills it, the server's TLS listener chooses from it. */
export interface ServingCertificatesPort {
  /** Takes a pair over if it can serve; the faults for which it was refused, none when it is served. */
  offer(owner: string, pair: ServingPair, now: Date): readonly ChainFault[];
  remove(owner: string): void;
}

/** What the server may know of the cluster's nodes, from memory. */
export interface NodeSource {
  nodes(): readonly NodeFacts[];
}

/** Which replicas serve what. In one process the replica answers itself; between processes their Leases carry it. */
export interface ReplicaReports {
  /**
   * The live replicas that could not answer a pod of this configuration yet: they lack the injector or the certificate of InjectorConfig `name`.
   * With no live replica at all one entry says so; empty means that the webhook may point there.
   */
  lacking(name: string, hash: string): readonly string[];
  /** Is told after each change of any report. */
  subscribe(listener: () => void): void;
}

/** Figures about the controller. Labels are bounded: names of InjectorConfigs, kinds, outcomes. */
export interface OperatorMetrics extends WatchObserver {
  reconciled?(name: string, outcome: 'Success' | 'Error', seconds: number): void;
  queued?(length: number): void;
  leading?(leading: boolean): void;
  applied?(kind: string, outcome: string): void;
  /** The conditions of an InjectorConfig after a reconcile: type → holds. */
  conditions?(name: string, conditions: ReadonlyMap<string, boolean>): void;
  certificateExpires?(name: string, notAfter: Date): void;
  /** An InjectorConfig is gone: forget its series. */
  forget?(name: string): void;
}
