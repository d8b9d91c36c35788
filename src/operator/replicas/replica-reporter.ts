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
  /** Names this replica: its pod's name. */
  readonly identity: string;
  /** Tells this process from another that calls itself the same. */
  readonly instance: string;
  /** Of this program. */
  readonly version?: string;
  /** What is in memory now. */
  readonly serves: () => ReplicaState['serves'];
  /** What was found in rollouts; told with the next renewal. */
  readonly shadow?: () => NonNullable<ReplicaState['shadow']>;
  /** What has failed lately; told with the next renewal. */
  readonly failures?: () => NonNullable<ReplicaState['failures']>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the Lease's duration and the renewal interval are divided by, for tests; 1 otherwise. */
  readonly timeScale?: number;
}

/** coordination.k8s.io/v1 Lease. */
type Lease = KubernetesObject & { spec: { holderIdentity: string; [field: string]: unknown } };

/** A replica counts as gone when its Lease has not changed for this long: the leader's own figure. */
const leaseSeconds = 15;
/** A third of that: two renewals in a row may fail. Milliseconds. */
const renewMs = 5000;
/** What changes is told at once, but not more often than this. Milliseconds. */
const changeMs = 100;
const retryMs = 1000;
const requestTimeoutMs = 4000;
/** The same problem is logged again after this many milliseconds. */
const repeatLogMs = 60_000;

/**
 * Reports what a serving process holds in memory, in a Lease of its own: renewed in time, written at once when something changes, deleted in the
 * end. It needs no other right to write. Nothing that goes wrong here stops the replica from serving; the leader only waits for it longer.
 */
export class ReplicaReporter {
  readonly #options: ReplicaReporterOptions;
  readonly #stop = new AbortController();
  #lease: Lease | undefined;
  /** Aborting it ends the pause before the next renewal. */
  #wake = new AbortController();
  #isDraining = false;
  #running: Promise<void> = Promise.resolve();
  #told: { message: string; at: number } | undefined;

  constructor(options: ReplicaReporterOptions) {
    this.#options = options;
  }

  /** Begins to report; returns at once. */
  start(): void {
    this.#running = this.#run(this.#stop.signal);
  }

  /** What is in memory has changed. */
  changed(): void {
    this.#wake.abort();
  }

  /** From now on the report says that this replica is on its way out. */
  drain(): void {
    this.#isDraining = true;
    this.changed();
  }

  /** Ends reporting and deletes the Lease, so that nobody waits for this replica any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    try {
      // A write that was under way when we stopped may have been done all the same: what we hold is not what is there then.
      const found = await this.#find({ timeoutMs: requestTimeoutMs });
      if (found?.spec.holderIdentity !== this.#holderIdentity) return;
      const { uid, resourceVersion } = found.metadata;
      await this.#options.client.delete(found, { uid, resourceVersion, timeoutMs: requestTimeoutMs });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      this.#options.logger.warn("the replica's lease was not released; it expires by itself", {
        error: messageOf(error),
      });
    }
  }

  /** A container that is restarted keeps its pod's name, so that alone does not tell its process from the one before. */
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
    const held = this.#lease;
    const options = { signal, timeoutMs: requestTimeoutMs };
    try {
      const found = held ?? (await this.#find(options));
      const wanted = this.#wanted(found);
      this.#lease = found === undefined ? await client.create(wanted, options) : await client.replace(wanted, options);
      this.#told = undefined;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#lease = undefined;
      if (isConflict(error) || isNotFound(error)) return await this.#lostTo(held, options);
      const advice =
        error instanceof ApiError && error.code === 403
          ? '; it needs get, create, update and delete on the Lease of its own pod'
          : '';
      this.#warn(`cannot report what this replica serves; publications wait for it${advice}`, messageOf(error));
      return false;
    }
  }

  /** Somebody else wrote our Lease or removed it: the next attempt starts from what is there. */
  async #lostTo(held: Lease | undefined, options: { signal: AbortSignal; timeoutMs: number }): Promise<boolean> {
    const found = await this.#find(options).catch(() => undefined);
    const other = found?.spec.holderIdentity;
    if (held !== undefined && other !== undefined && other !== held.spec.holderIdentity) {
      const { identity } = this.#options;
      const message = `another process reports as replica ${identity} too; give each its own --identity`;
      this.#warn(message, `the lease is held by ${other}`);
    }
    this.changed();
    return false;
  }

  #find(options: { signal?: AbortSignal; timeoutMs: number }): Promise<Lease | undefined> {
    const { client, namespace, identity } = this.#options;
    return client.find<Lease>(leases, replicaLeaseName(identity), { namespace, ...options });
  }

  #wanted(found: Lease | undefined): Lease {
    const { identity, version, clock, serves, shadow, failures, timeScale = 1 } = this.#options;
    const { metadata, omitted } = replicaLeaseMetadata(identity, this.#options, {
      ...(version === undefined ? {} : { version }),
      isDraining: this.#isDraining,
      serves: serves(),
      shadow: shadow?.() ?? [],
      failures: failures?.() ?? [],
    });
    if (omitted > 0) {
      const message = 'the replica serves more than its lease can say; publications of the rest wait for ever';
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
    if (this.#told?.message === message && now - this.#told.at < repeatLogMs) return;
    this.#told = { message, at: now };
    logger.warn(message, { error });
  }
}
