import { EventEmitter } from 'node:events';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { replicaAnnotations } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isConflict, isNotFound } from '../../kube/api-error.ts';
import { ObjectStore, type StoreChange } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector } from '../../kube/reflector.ts';
import { leases } from '../cluster-view.ts';
import {
  addShadowReports,
  emptyShadowReport,
  isOfPair,
  type RolloutPair,
  type ShadowReport,
} from '../../rollout/shadow-report.ts';
import { type PathFormat, pathFormats } from '../../routing/route.ts';
import { addFailures, type ReportedFailure } from './report-annotations.ts';
import {
  keptOfLease,
  readReplicaLease,
  replicaLeaseSelector,
  replicaOf,
  type ReplicaState,
  type ServedConfiguration,
} from './replica-lease.ts';

export interface ReplicaLeasesOptions extends FollowingParts {
  readonly client: Pick<ApiClient, 'list' | 'watch' | 'delete'>;
  readonly namespace: string;
  readonly operatorClass: string;
  /** The divisor of the time until an expired Lease is deleted, for tests. Default: 1. */
  readonly timeScale?: number;
}

/** What one live replica reports for one InjectorConfig. */
export interface ReplicaReport extends ServedConfiguration {
  /** The identity of the replica: the name of its pod. */
  readonly replica: string;
  /** Whether the replica is shutting down: it still answers, but deletes its Lease soon. */
  readonly isDraining: boolean;
}

interface Seen {
  readonly state: ReplicaState;
  /** The annotations that matter for publications, as text for comparisons. */
  readonly text: string;
  /** The time in milliseconds during which the replica is live after a change. */
  readonly durationMs: number;
  /** When we last saw the Lease change, in milliseconds of our own monotonic clock. */
  readonly at: number;
}

/** The maximum duration of a Lease, in milliseconds. */
const longestMs = 60_000;
/** The delay before an expired Lease is deleted, in ms, since its replica may reconnect. */
const removeAfterMs = 30_000;
/** The maximum number of reports that are read. Further replicas only delay publications. */
const maximumReplicas = 200;
const maximumNamed = 5;

/**
 * Tracks the replicas by their Leases. After a change of its Lease, a replica is live for the
 * duration of the Lease, measured by our own clock. Never compares the clocks of two machines.
 */
export class ReplicaLeases {
  readonly #options: ReplicaLeasesOptions;
  readonly #store = new ObjectStore();
  readonly #seen = new Map<string, Seen>();
  readonly #changes = new EventEmitter<{ changed: [] }>();
  readonly #stop = new AbortController();
  /** Cancels the timer for the next expiry of a Lease. */
  #stopWaiting: () => void = () => undefined;

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options;
  }

  start(): void {
    const { namespace, operatorClass } = this.#options;
    this.#store.subscribe((change) => this.#onLease(change));
    const reflector = new Reflector({
      ...this.#options,
      resource: leases,
      store: this.#store,
      namespace,
      labelSelector: replicaLeaseSelector(operatorClass),
      transform: (lease) => {
        const known = this.#store.get(lease.metadata.name ?? '', lease.metadata.namespace);
        return keptOfLease(lease, this.#store.size < maximumReplicas || known?.metadata.annotations !== undefined);
      },
      onRecovered: () => this.#extendAll(),
    });
    void reflector.run(this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
    this.#stopWaiting();
  }

  /**
   * Returns the live replicas that lack the injector or the certificate: the names of the first
   * five, then the number of further replicas. If no replica is live, an entry says so. The webhook
   * may name the configuration once the result is empty.
   * @param fingerprint the SHA-256 of the required certificate; undefined accepts any certificate
   */
  lacking(name: string, hash: string, fingerprint?: string): readonly string[] {
    if (!this.#store.hasSynced) return ['any replica (their leases have not been read yet)'];
    const live = this.replicas(name);
    if (live.length === 0) return ['any replica (none is running)'];
    const lacking = live
      .filter(({ hashes, certificate }) => {
        return certificate === undefined || certificate !== (fingerprint ?? certificate) || !hashes.includes(hash);
      })
      .map(({ replica }) => replica);
    const more = lacking.length - maximumNamed;
    return more > 0 ? [...lacking.slice(0, maximumNamed), `${more} more`] : lacking;
  }

  /** Returns the newest path format that all live replicas read, or the reason why none exists. */
  pathFormat(): PathFormat | string {
    const live = this.#live();
    const format = pathFormats.find(({ name }) => live.every(({ state }) => state.pathFormats.includes(name)));
    const reads = live.map(({ replica, state }) => `${replica} reads ${state.pathFormats.join()}`);
    return format ?? reads.slice(0, maximumNamed).join('; ');
  }

  /** Returns the live replicas, sorted, that do not remove the gate of failurePolicy Hold. */
  notHolding(): readonly string[] {
    return this.#live()
      .filter(({ state }) => !state.holdsPods)
      .map(({ replica }) => replica)
      .sort();
  }

  synced(): Promise<void> {
    return this.#store.synced();
  }

  /** Returns the live replicas, sorted. The name `(validator)` means the validating webhook. */
  replicas(name: string): readonly ReplicaReport[] {
    return this.#live()
      .map(({ replica, state: { isDraining, serves } }) => {
        return { replica, isDraining, ...(serves.get(name) ?? { hashes: [] }) };
      })
      .sort((one, other) => (one.replica < other.replica ? -1 : 1));
  }

  #live(): { readonly replica: string; readonly state: ReplicaState }[] {
    const now = this.#options.clock.monotonic();
    return [...this.#seen]
      .filter(([, { at, durationMs }]) => now - at < durationMs)
      .map(([replica, { state }]) => ({ replica, state }));
  }

  /** Calls the listener when the reported configurations, certificates or failures change. */
  subscribe(listener: () => void): void {
    this.#changes.on('changed', listener);
  }

  /** Returns the sum of all replicas' shadow comparisons for two configurations. */
  shadowReport(pair: RolloutPair): ShadowReport {
    // Include replicas that are not live: their counts must not look new after a reconnection.
    return [...this.#seen.values()]
      .flatMap(({ state }) => state.shadow ?? [])
      .filter((report) => isOfPair(report, pair))
      .reduce<ShadowReport>(addShadowReports, emptyShadowReport);
  }

  /** Returns the recent failures of a configuration to inject pods; undefined if there are none. */
  failures(name: string, hash: string): ReportedFailure | undefined {
    return this.#live()
      .flatMap(({ state }) => state.failures ?? [])
      .filter((failure) => failure.injectorConfig === name && failure.hash === hash)
      .reduce<ReportedFailure | undefined>(addFailures, undefined);
  }

  /**
   * Deletes the Leases of dead replicas, unless a Lease has changed. Only the leader calls this.
   * Resolves with the milliseconds until the next call.
   */
  async removeExpired(signal: AbortSignal): Promise<number> {
    const { client, clock, logger, timeScale = 1 } = this.#options;
    for (const lease of this.#store.list()) {
      const seen = this.#seen.get(replicaOf(lease));
      if (seen === undefined || clock.monotonic() - seen.at < seen.durationMs + removeAfterMs / timeScale) continue;
      const { uid, resourceVersion } = lease.metadata;
      try {
        await client.delete(lease, { uid, resourceVersion, signal });
        logger.info('deleted the Lease of a replica that no longer runs', { replica: replicaOf(lease) });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }
    return removeAfterMs / timeScale / 4;
  }

  #onLease({ type, object }: StoreChange<KubernetesObject>): void {
    const replica = replicaOf(object);
    const before = this.#seen.get(replica);
    const at = this.#options.clock.monotonic();
    if (type === 'Deleted') this.#seen.delete(replica);
    else this.#seen.set(replica, { ...read(object), at });
    this.#awaitExpiry();
    const wasLive = before !== undefined && at - before.at < before.durationMs;
    if (!wasLive || this.#seen.get(replica)?.text !== before.text) this.#changes.emit('changed');
  }

  /** Sets a timer to notify listeners of the next expiry, for which there is no watch event. */
  #awaitExpiry(): void {
    this.#stopWaiting();
    const now = this.#options.clock.monotonic();
    const waits = [...this.#seen.values()]
      .map(({ at, durationMs }) => at + durationMs - now)
      .filter((each) => each > 0);
    if (waits.length === 0 || this.#stop.signal.aborted) return;
    // A timer may be a fraction of a millisecond early.
    this.#stopWaiting = this.#options.clock.after(Math.min(...waits) + 1, () => {
      this.#awaitExpiry();
      this.#changes.emit('changed');
    });
  }

  /** Restarts the duration of each Lease after our watch was interrupted. */
  #extendAll(): void {
    const at = this.#options.clock.monotonic();
    for (const [replica, seen] of this.#seen) {
      if (at - seen.at < seen.durationMs + longestMs) this.#seen.set(replica, { ...seen, at });
    }
    this.#awaitExpiry();
  }
}

function read(lease: KubernetesObject): Omit<Seen, 'at'> {
  const { leaseDurationSeconds } = (lease.spec ?? {}) as { leaseDurationSeconds?: number };
  const durationMs = Math.min(longestMs, Math.max(1, leaseDurationSeconds ?? 15) * 1000);
  const { annotations = {} } = lease.metadata;
  const { shadow, failures } = replicaAnnotations;
  const relevant = Object.entries(annotations).filter(([name]) => name !== shadow && name !== failures);
  const state = readReplicaLease(lease);
  // A configuration that begins to fail counts as a change, but further failures do not.
  const failing = (state.failures ?? []).map(({ injectorConfig, hash }) => `${injectorConfig}.${hash}`).sort();
  return { state, text: JSON.stringify([relevant, failing]), durationMs };
}
