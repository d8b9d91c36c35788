import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { isConflict, messageOf } from './api-error.ts';
import { pause } from './clock.ts';
import { microTime } from './event-recorder.ts';
import type { Clock, Logger, Random } from './ports.ts';
import { resourceKind } from './resource-kinds.ts';

export interface LeaseElectorOptions {
  client: Pick<ApiClient, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  /** The name of this process, unique among the candidates. */
  identity: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** The divisor of all durations, for tests; default 1. */
  timeScale?: number;
  /** Called with the identity of each new holder that is another process. */
  onHolder?: (identity: string) => void;
}

/** coordination.k8s.io/v1 LeaseSpec. */
interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}
type Lease = KubernetesObject & { spec?: LeaseSpec };

/** client-go's defaults: lease duration 15 s, renew deadline 10 s, retry period 2 s. */
const leaseSeconds = 15;
const renewDeadlineSeconds = 10;
const retrySeconds = 2;

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');

/**
 * Elects a leader through a Lease, as client-go does: after the last change that we observed, the
 * holder keeps the Lease for its duration. Only our own clock counts, so clocks of other machines
 * do not matter. Two processes may lead for a moment; every write must tolerate that.
 */
export function createLeaseElector(options: LeaseElectorOptions) {
  const { client, namespace, name, identity, clock, random, logger, timeScale = 1, onHolder } = options;
  // The Lease stores its duration in whole seconds.
  const leaseMs = Math.ceil(leaseSeconds / timeScale) * 1000;
  const renewDeadlineMs = (renewDeadlineSeconds * 1000) / timeScale;
  const retryMs = (retrySeconds * 1000) / timeScale;
  let observed: { lease: Lease; at: number } | undefined;
  /** The start of the last successful renewal; undefined while we do not lead. */
  let renewedAt: number | undefined;

  /**
   * Waits for the lease and runs `lead` until `signal` aborts; the `leading` signal aborts when the
   * lease is lost. When `lead` ends, releases the lease and waits again. Rejects only if `lead`
   * rejects.
   */
  async function run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      if (await tryOnce(signal)) await leadUntilLost(signal, lead);
      // client-go's JitterFactor of 1.2, so that candidates do not collide.
      else await pause(clock, retryMs * (1 + 1.2 * random()), signal);
    }
  }

  async function leadUntilLost(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    logger.info('became the leader', { lease: name, identity });
    const leadership = new AbortController();
    // Every running request listens to this signal: four passes exceed Node's warning limit of ten.
    setMaxListeners(0, leadership.signal);
    const stop = (): void => leadership.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const renewal = renewUntilLost(leadership);
    try {
      await lead(leadership.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      leadership.abort();
      const lost = await renewal;
      renewedAt = undefined;
      if (!lost) await release();
      logger.info(lost ? 'lost the lease' : 'released the lease', { lease: name, identity });
    }
  }

  /** Renews until aborted, and returns false. If the lease is lost, aborts and returns true. */
  async function renewUntilLost(leadership: AbortController): Promise<boolean> {
    let since = clock.monotonic();
    for (;;) {
      const left = (): number => Math.max(since + renewDeadlineMs - clock.monotonic(), 0);
      await pause(clock, Math.min(retryMs, left()), leadership.signal);
      if (leadership.signal.aborted) return false;
      const attempt = new AbortController();
      const cancel = clock.after(left(), () => attempt.abort(new Error('the renew deadline has passed')));
      const renewed = await tryOnce(attempt.signal);
      cancel();
      if (renewed) since = clock.monotonic();
      // A timer may fire a fraction of a millisecond early, so check whether the timer fired,
      // not the time.
      else if (heldByOther() || attempt.signal.aborted || left() === 0) {
        renewedAt = undefined;
        leadership.abort(new Error('lost the lease'));
        return true;
      }
    }
  }

  /** Tries once to get or renew the lease. */
  async function tryOnce(signal: AbortSignal): Promise<boolean> {
    const began = clock.monotonic();
    try {
      const lease = await client.find<Lease>(leases, name, { namespace, signal, timeoutMs: renewDeadlineMs / 2 });
      if (lease !== undefined) observe(lease);
      if (lease !== undefined && heldByOther()) return false;
      const desired = desiredLease(lease);
      observe(await (lease ? client.replace(desired, { signal }) : client.create(desired, { signal })));
      renewedAt = began;
      return true;
    } catch (error) {
      // On a Conflict another candidate was faster.
      if (!isConflict(error) && !signal.aborted) {
        logger.warn('cannot get or renew the lease; retrying', { lease: name, error: messageOf(error) });
      }
      return false;
    }
  }

  function observe(lease: Lease): void {
    const before = observed;
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== identity && holder !== before?.lease.spec?.holderIdentity) onHolder?.(holder);
    const isSame = before !== undefined && isDeepStrictEqual(before.lease.spec, lease.spec);
    observed = { lease, at: isSame ? before.at : clock.monotonic() };
  }

  function heldByOther(): boolean {
    if (observed === undefined) return false;
    const { lease, at } = observed;
    const { holderIdentity = '', leaseDurationSeconds = leaseMs / 1000 } = lease.spec ?? {};
    if (holderIdentity === '' || holderIdentity === identity) return false;
    return clock.monotonic() - at < leaseDurationSeconds * 1000;
  }

  function desiredLease(before: Lease | undefined): Lease {
    const now = microTime(clock.now());
    const spec = before?.spec ?? {};
    const isOurs = spec.holderIdentity === identity;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: before?.metadata ?? { name, namespace },
      spec: {
        ...spec,
        holderIdentity: identity,
        leaseDurationSeconds: leaseMs / 1000,
        acquireTime: isOurs ? (spec.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isOurs || before === undefined ? 0 : 1),
      },
    };
  }

  /** Empties the lease, so that the next candidate need not wait for the lease duration. */
  async function release(): Promise<void> {
    const lease = observed?.lease;
    if (lease?.spec?.holderIdentity !== identity) return;
    const now = microTime(clock.now());
    const times = { leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    const spec: LeaseSpec = { ...lease.spec, ...times, holderIdentity: '' };
    try {
      observe(await client.replace({ ...lease, spec }, { timeoutMs: 5000 }));
    } catch (error) {
      logger.warn('the lease was not released; it expires after its lease duration', { error: messageOf(error) });
    }
  }

  return {
    run,
    /**
     * Whether we hold the lease now. Becomes false when the renew deadline has passed since the
     * start of the last renewal, even if timers or requests are late.
     */
    get holds(): boolean {
      return renewedAt !== undefined && clock.monotonic() - renewedAt < renewDeadlineMs;
    },
  };
}
