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
export function createReplicaReporter(options: ReplicaReporterOptions) {
  const { client, namespace, identity, version, serves, shadow, failures, clock, logger, timeScale = 1 } = options;
  /** Includes the instance, since a restarted container keeps the name of its pod. */
  const holderIdentity = `${identity}_${options.instance}`;
  const stopping = new AbortController();
  let lease: Lease | undefined;
  /** When aborted, ends the pause before the next renewal. */
  let wake = new AbortController();
  let isDraining = false;
  let running: Promise<void> = Promise.resolve();
  let logged: { message: string; at: number } | undefined;

  function start(): void {
    running = run(stopping.signal);
  }

  /** Writes the Lease soon, because the configurations in memory have changed. */
  function changed(): void {
    wake.abort();
  }

  /** Reports from now on that this replica is shutting down. */
  function drain(): void {
    isDraining = true;
    changed();
  }

  /** Stops reporting and deletes the Lease, so that the leader no longer waits for this replica. */
  async function stop(): Promise<void> {
    stopping.abort();
    await running;
    try {
      // The API server may have completed a write that we aborted, so read the Lease again.
      const found = await find({ timeoutMs: requestTimeoutMs });
      if (found?.spec.holderIdentity !== holderIdentity) return;
      const { uid, resourceVersion } = found.metadata;
      await client.delete(found, { uid, resourceVersion, timeoutMs: requestTimeoutMs });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      logger.warn("the replica's Lease was not deleted; it expires automatically", { error: messageOf(error) });
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      wake = new AbortController();
      const written = await write(signal);
      await pause(clock, changeMs, signal);
      const wait = written ? renewMs / timeScale : retryMs;
      await pause(clock, wait - changeMs, AbortSignal.any([signal, wake.signal]));
    }
  }

  async function write(signal: AbortSignal): Promise<boolean> {
    const cached = lease;
    const how = { signal, timeoutMs: requestTimeoutMs };
    try {
      const found = cached ?? (await find(how));
      const desired = desiredLease(found);
      lease = found === undefined ? await client.create(desired, how) : await client.replace(desired, how);
      logged = undefined;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      lease = undefined;
      if (isConflict(error) || isNotFound(error)) return await lostTo(cached, how);
      const advice =
        error instanceof ApiError && error.code === 403
          ? '; the replica needs get, create, update and delete on the Lease of its own pod'
          : '';
      warnOnce(`cannot write the Lease of this replica, so publications wait${advice}`, messageOf(error));
      return false;
    }
  }

  /** Handles another client's write or deletion of our Lease. The next attempt reads the Lease. */
  async function lostTo(cached: Lease | undefined, how: { signal: AbortSignal; timeoutMs: number }): Promise<boolean> {
    const found = await find(how).catch(() => undefined);
    const other = found?.spec.holderIdentity;
    if (cached !== undefined && other !== undefined && other !== cached.spec.holderIdentity) {
      const message = `another process also reports as replica ${identity}; give each process its own --identity`;
      warnOnce(message, `the holder of the Lease is ${other}`);
    }
    changed();
    return false;
  }

  function find(how: { signal?: AbortSignal; timeoutMs: number }): Promise<Lease | undefined> {
    return client.find<Lease>(leases, replicaLeaseName(identity), { namespace, ...how });
  }

  function desiredLease(found: Lease | undefined): Lease {
    const { metadata, omitted } = replicaLeaseMetadata(identity, options, {
      ...(version === undefined ? {} : { version }),
      isDraining,
      serves: serves(),
      shadow: shadow?.() ?? [],
      failures: failures?.() ?? [],
    });
    if (omitted > 0) {
      const message =
        'the replica serves more configurations than fit in its Lease; publications of the omitted configurations wait forever';
      warnOnce(message, `${omitted} InjectorConfigs do not fit into 250 kB of annotations`);
    }
    const { resourceVersion = '', uid = '' } = found?.metadata ?? {};
    const now = microTime(clock.now());
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

  function warnOnce(message: string, error: string): void {
    const now = clock.monotonic();
    if (logged?.message === message && now - logged.at < repeatLogMs) return;
    logged = { message, at: now };
    logger.warn(message, { error });
  }

  return { start, changed, drain, stop };
}
