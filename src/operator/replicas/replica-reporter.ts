import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, isConflict, isNotFound, messageOf } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import { microTime } from '../../kube/event-recorder.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { replicaLeaseName } from '../../api/names.ts';
import { leases } from '../cluster-view.ts';
import { replicaLeaseMetadata, type ReplicaState } from './replica-lease.ts';

export interface ReplicaReporterOptions {
  readonly client: Pick<ApiClient, 'find' | 'create' | 'replace' | 'delete'>;
  readonly namespace: string;
  readonly operatorClass: string;
  /** The name of this replica, which is the name of its pod. */
  readonly identity: string;
  /** A text that distinguishes this process from other processes with the same identity. */
  readonly instance: string;
  readonly version?: string;
  /** Returns the configurations and certificates in memory. */
  readonly serves: () => ReplicaState['serves'];
  /** Returns the shadow reports; the next renewal writes them. */
  readonly shadow?: () => NonNullable<ReplicaState['shadow']>;
  /** Returns the recent failures; the next renewal writes them. */
  readonly failures?: () => NonNullable<ReplicaState['failures']>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The divisor of the Lease's duration and renewal interval, for tests. Default: 1. */
  readonly timeScale?: number;
}

/** A Lease (coordination.k8s.io/v1). */
type Lease = KubernetesObject & { spec: { holderIdentity: string; [field: string]: unknown } };

/** The duration of the Lease in seconds, equal to the duration of the leader's Lease. */
const leaseSeconds = 15;
/** The renewal interval in milliseconds, a third of the duration, so that two renewals may fail. */
const renewMs = 5000;
/** The minimum time between two writes of changes, in milliseconds. */
const changeMs = 100;
const retryMs = 1000;
const requestTimeoutMs = 4000;
/** The time until the same problem is logged again, in milliseconds. */
const repeatLogMs = 60_000;

/**
 * Reports the configurations in memory in the replica's own Lease. Renews the Lease, writes changes
 * immediately, and deletes the Lease at the end. After a failed write, the replica still serves.
 */
export class ReplicaReporter {
  readonly #options: ReplicaReporterOptions;
  readonly #stop = new AbortController();
  #lease: Lease | undefined;
  /** When aborted, ends the pause before the next renewal. */
  #wake = new AbortController();
  #isDraining = false;
  #running: Promise<void> = Promise.resolve();
  #logged: { message: string; at: number } | undefined;

  constructor(options: ReplicaReporterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run(this.#stop.signal);
  }

  /** Writes the Lease soon, because the configurations in memory have changed. */
  changed(): void {
    this.#wake.abort();
  }

  /** Reports from now on that this replica is shutting down. */
  drain(): void {
    this.#isDraining = true;
    this.changed();
  }

  /** Stops reporting and deletes the Lease, so that the leader no longer waits for this replica. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    try {
      // The API server may have completed a write that we aborted, so read the Lease again.
      const found = await this.#find({ timeoutMs: requestTimeoutMs });
      if (found?.spec.holderIdentity !== this.#holderIdentity) return;
      const { uid, resourceVersion } = found.metadata;
      await this.#options.client.delete(found, { uid, resourceVersion, timeoutMs: requestTimeoutMs });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      this.#options.logger.warn("the replica's Lease was not deleted; it expires automatically", {
        error: messageOf(error),
      });
    }
  }

  /** Includes the instance, since a restarted container keeps the name of its pod. */
  get #holderIdentity(): string {
    const { identity, instance } = this.#options;
    return `${identity}_${instance}`;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, timeScale = 1 } = this.#options;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const written = await this.#write(signal);
      await pause(clock, changeMs, signal);
      const wait = written ? renewMs / timeScale : retryMs;
      await pause(clock, wait - changeMs, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  async #write(signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options;
    const cached = this.#lease;
    const options = { signal, timeoutMs: requestTimeoutMs };
    try {
      const found = cached ?? (await this.#find(options));
      const desired = this.#desired(found);
      this.#lease =
        found === undefined ? await client.create(desired, options) : await client.replace(desired, options);
      this.#logged = undefined;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#lease = undefined;
      if (isConflict(error) || isNotFound(error)) return await this.#lostTo(cached, options);
      const advice =
        error instanceof ApiError && error.code === 403
          ? '; the replica needs get, create, update and delete on the Lease of its own pod'
          : '';
      this.#warn(`cannot write the Lease of this replica, so publications wait${advice}`, messageOf(error));
      return false;
    }
  }

  /** Handles another client's write or deletion of our Lease. The next attempt reads the Lease. */
  async #lostTo(cached: Lease | undefined, options: { signal: AbortSignal; timeoutMs: number }): Promise<boolean> {
    const found = await this.#find(options).catch(() => undefined);
    const other = found?.spec.holderIdentity;
    if (cached !== undefined && other !== undefined && other !== cached.spec.holderIdentity) {
      const { identity } = this.#options;
      const message = `another process also reports as replica ${identity}; give each process its own --identity`;
      this.#warn(message, `the holder of the Lease is ${other}`);
    }
    this.changed();
    return false;
  }

  #find(options: { signal?: AbortSignal; timeoutMs: number }): Promise<Lease | undefined> {
    const { client, namespace, identity } = this.#options;
    return client.find<Lease>(leases, replicaLeaseName(identity), { namespace, ...options });
  }

  #desired(found: Lease | undefined): Lease {
    const { identity, version, clock, serves, shadow, failures, timeScale = 1 } = this.#options;
    const { metadata, omitted } = replicaLeaseMetadata(identity, this.#options, {
      ...(version === undefined ? {} : { version }),
      isDraining: this.#isDraining,
      serves: serves(),
      shadow: shadow?.() ?? [],
      failures: failures?.() ?? [],
    });
    if (omitted > 0) {
      const message =
        'the replica serves more configurations than fit in its Lease; publications of the omitted configurations wait forever';
      this.#warn(message, `${omitted} InjectorConfigs do not fit into 250 kB of annotations`);
    }
    const { resourceVersion = '', uid = '' } = found?.metadata ?? {};
    const now = microTime(clock.now());
    const holderIdentity = this.#holderIdentity;
    const isOurs = found?.spec.holderIdentity === holderIdentity;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...metadata, ...(found && { resourceVersion, uid }) },
      spec: {
        holderIdentity,
        leaseDurationSeconds: Math.ceil(leaseSeconds / timeScale),
        acquireTime: isOurs ? found.spec['acquireTime'] : now,
        renewTime: now,
      },
    };
  }

  #warn(message: string, error: string): void {
    const { clock, logger } = this.#options;
    const now = clock.monotonic();
    if (this.#logged?.message === message && now - this.#logged.at < repeatLogMs) return;
    this.#logged = { message, at: now };
    logger.warn(message, { error });
  }
}
