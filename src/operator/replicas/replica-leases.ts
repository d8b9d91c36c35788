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
import type { ReplicaReport, ReplicaReports } from '../ports.ts';
import { addFailures, type ReportedFailure } from './failures-annotation.ts';
import { keptOfLease, readReplicaLease, replicaLeaseSelector, replicaOf, type ReplicaState } from './replica-lease.ts';

export interface ReplicaLeasesOptions extends FollowingParts {
  readonly client: Pick<ApiClient, 'list' | 'watch' | 'delete'>;
  readonly namespace: string;
  readonly operatorClass: string;
  /** What the time until an expired Lease is removed is divided by, for tests; 1 otherwise. */
  readonly timeScale?: number;
}

interface Seen {
  readonly state: ReplicaState;
  /** What its annotations say of what it serves, for comparing. */
  readonly text: string;
  /** How long it counts after a change, in milliseconds. */
  readonly durationMs: number;
  /** When we saw it change last, by our own clock. */
  readonly at: number;
}

/** Whatever a Lease says, a replica that has not been heard of for a minute is gone. */
const longestMs = 60_000;
/** An expired Lease is removed after this long: its replica may only have been cut off. Milliseconds. */
const removeAfterMs = 30_000;
/** What more Leases say is not read: they hold publications up, and take no memory. */
const mostReplicas = 200;
/** How many replicas are named before the rest is counted. */
const mostNamed = 5;

/**
 * The replicas as their Leases tell, for whoever leads. A replica is live while its Lease changes within its duration, by our own clock since we saw
 * it change: clocks of other machines are never compared, and one that was seen only once counts from then on.
 */
export class ReplicaLeases implements ReplicaReports {
  readonly #options: ReplicaLeasesOptions;
  readonly #store = new ObjectStore();
  readonly #seen = new Map<string, Seen>();
  readonly #listeners: (() => void)[] = [];
  readonly #stop = new AbortController();
  /** Calls off the wait for the next Lease to expire. */
  #stopWaiting: () => void = () => undefined;

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options;
  }

  /** Begins to follow; returns at once. */
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
        return keptOfLease(lease, this.#store.size < mostReplicas || known?.metadata.annotations !== undefined);
      },
      onRecovered: () => this.#heardNothing(),
    });
    void reflector.run(this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
    this.#stopWaiting();
  }

  lacking(name: string, hash: string, fingerprint?: string): readonly string[] {
    if (!this.#store.hasSynced) return ['any replica (their leases have not been read yet)'];
    const live = this.replicas(name);
    if (live.length === 0) return ['any replica (none is running)'];
    const lacking = live
      .filter(({ hashes, certificate }) => {
        return certificate === undefined || certificate !== (fingerprint ?? certificate) || !hashes.includes(hash);
      })
      .map(({ replica }) => replica);
    const more = lacking.length - mostNamed;
    return more > 0 ? [...lacking.slice(0, mostNamed), `${more} more`] : lacking;
  }

  pathFormat(): PathFormat | string {
    const live = this.#live();
    const format = pathFormats.find(({ name }) => live.every(({ state }) => state.pathFormats.includes(name)));
    const reads = live.map(({ replica, state }) => `${replica} reads ${state.pathFormats.join()}`);
    return format ?? reads.slice(0, mostNamed).join('; ');
  }

  synced(): Promise<void> {
    return this.#store.synced();
  }

  replicas(name: string): readonly ReplicaReport[] {
    return this.#live()
      .map(({ replica, state }) => {
        const { hashes = [], certificate } = state.serves.get(name) ?? {};
        const { isDraining } = state;
        return { replica, isDraining, hashes, ...(certificate === undefined ? {} : { certificate }) };
      })
      .sort((one, other) => (one.replica < other.replica ? -1 : 1));
  }

  #live(): { readonly replica: string; readonly state: ReplicaState }[] {
    const now = this.#options.clock.monotonic();
    return [...this.#seen]
      .filter(([, { at, durationMs }]) => now - at < durationMs)
      .map(([replica, { state }]) => ({ replica, state }));
  }

  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }

  shadowReport(pair: RolloutPair): ShadowReport {
    // Also of those that were not heard of for a while: what they found stays true, and counts that come back would look like new ones.
    return [...this.#seen.values()]
      .flatMap(({ state }) => state.shadow ?? [])
      .filter((report) => isOfPair(report, pair))
      .reduce<ShadowReport>(addShadowReports, emptyShadowReport);
  }

  failures(name: string, hash: string): ReportedFailure | undefined {
    return this.#live()
      .flatMap(({ state }) => state.failures ?? [])
      .filter((failure) => failure.injectorConfig === name && failure.hash === hash)
      .reduce<ReportedFailure | undefined>(addFailures, undefined);
  }

  /**
   * Deletes the Leases of replicas that have been gone for long, each only if it is still as it was; for the leader.
   * Resolves with the milliseconds until it wants to be called again.
   */
  async removeExpired(signal: AbortSignal): Promise<number> {
    const { client, clock, logger, timeScale = 1 } = this.#options;
    for (const lease of this.#store.list()) {
      const seen = this.#seen.get(replicaOf(lease));
      if (seen === undefined || clock.monotonic() - seen.at < seen.durationMs + removeAfterMs / timeScale) continue;
      const { uid, resourceVersion } = lease.metadata;
      try {
        await client.delete(lease, { uid, resourceVersion, signal });
        logger.info('removed the lease of a replica that is gone', { replica: replicaOf(lease) });
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
    if (!wasLive || this.#seen.get(replica)?.text !== before.text) this.#tell();
  }

  /** That a Lease expires is news too, and nobody but our own clock tells. */
  #awaitExpiry(): void {
    this.#stopWaiting();
    const now = this.#options.clock.monotonic();
    const left = [...this.#seen.values()].map(({ at, durationMs }) => at + durationMs - now).filter((each) => each > 0);
    if (left.length === 0 || this.#stop.signal.aborted) return;
    // A timer may be a fraction of a millisecond early.
    this.#stopWaiting = this.#options.clock.after(Math.min(...left) + 1, () => {
      this.#awaitExpiry();
      this.#tell();
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** We were cut off, so nobody can be said to be gone: each gets its whole duration again. */
  #heardNothing(): void {
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
  const others = Object.entries(annotations).filter(([name]) => name !== shadow && name !== failures);
  const state = readReplicaLease(lease);
  // That one fails is news, and not that it fails again.
  const failing = (state.failures ?? []).map(({ injectorConfig, hash }) => `${injectorConfig}.${hash}`).sort();
  return { state, text: JSON.stringify([others, failing]), durationMs };
}
