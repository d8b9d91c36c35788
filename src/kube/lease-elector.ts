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
export class LeaseElector {
  readonly #options: LeaseElectorOptions;
  readonly #leaseMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryMs: number;
  #observed: { lease: Lease; at: number } | undefined;
  /** The start of the last successful renewal; undefined while we do not lead. */
  #renewedAt: number | undefined;

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
    const { timeScale = 1 } = options;
    // The Lease stores its duration in whole seconds.
    this.#leaseMs = Math.ceil(leaseSeconds / timeScale) * 1000;
    this.#renewDeadlineMs = (renewDeadlineSeconds * 1000) / timeScale;
    this.#retryMs = (retrySeconds * 1000) / timeScale;
  }

  /**
   * Waits for the lease and runs `lead` until `signal` aborts; the `leading` signal aborts when the
   * lease is lost. When `lead` ends, releases the lease and waits again. Rejects only if `lead`
   * rejects.
   */
  async run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, random } = this.#options;
    while (!signal.aborted) {
      if (await this.#tryOnce(signal)) await this.#lead(signal, lead);
      // client-go's JitterFactor of 1.2, so that candidates do not collide.
      else await pause(clock, this.#retryMs * (1 + 1.2 * random()), signal);
    }
  }

  /**
   * Whether we hold the lease now. Becomes false when the renew deadline has passed since the start
   * of the last renewal, even if timers or requests are late.
   */
  get holds(): boolean {
    return this.#renewedAt !== undefined && this.#options.clock.monotonic() - this.#renewedAt < this.#renewDeadlineMs;
  }

  async #lead(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    const { logger, name: lease, identity } = this.#options;
    logger.info('became the leader', { lease, identity });
    const leadership = new AbortController();
    // Every running request listens to this signal: four passes exceed Node's warning limit of ten.
    setMaxListeners(0, leadership.signal);
    const stop = (): void => leadership.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const renewal = this.#renewUntilLost(leadership);
    try {
      await lead(leadership.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      leadership.abort();
      const lost = await renewal;
      this.#renewedAt = undefined;
      if (!lost) await this.#release();
      logger.info(lost ? 'lost the lease' : 'released the lease', { lease, identity });
    }
  }

  /** Renews until aborted, and returns false. If the lease is lost, aborts and returns true. */
  async #renewUntilLost(leadership: AbortController): Promise<boolean> {
    const { clock } = this.#options;
    let renewedAt = clock.monotonic();
    for (;;) {
      const left = (): number => Math.max(renewedAt + this.#renewDeadlineMs - clock.monotonic(), 0);
      await pause(clock, Math.min(this.#retryMs, left()), leadership.signal);
      if (leadership.signal.aborted) return false;
      const attempt = new AbortController();
      const cancel = clock.after(left(), () => attempt.abort(new Error('the renew deadline has passed')));
      const renewed = await this.#tryOnce(attempt.signal);
      cancel();
      if (renewed) renewedAt = clock.monotonic();
      // A timer may fire a fraction of a millisecond early, so check whether the timer fired,
      // not the time.
      else if (this.#heldByOther() || attempt.signal.aborted || left() === 0) {
        this.#renewedAt = undefined;
        leadership.abort(new Error('lost the lease'));
        return true;
      }
    }
  }

  /** Tries once to get or renew the lease. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, logger, clock } = this.#options;
    const began = clock.monotonic();
    try {
      const lease = await client.find<Lease>(leases, name, { namespace, signal, timeoutMs: this.#renewDeadlineMs / 2 });
      if (lease !== undefined) this.#observe(lease);
      if (lease !== undefined && this.#heldByOther()) return false;
      const desired = this.#lease(lease);
      this.#observe(
        await (lease === undefined ? client.create(desired, { signal }) : client.replace(desired, { signal })),
      );
      this.#renewedAt = began;
      return true;
    } catch (error) {
      // On a Conflict another candidate was faster.
      if (!isConflict(error) && !signal.aborted) {
        logger.warn('cannot get or renew the lease; retrying', { lease: name, error: messageOf(error) });
      }
      return false;
    }
  }

  #observe(lease: Lease): void {
    const { clock, identity, onHolder } = this.#options;
    const before = this.#observed;
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== identity && holder !== before?.lease.spec?.holderIdentity) onHolder?.(holder);
    const isSame = before !== undefined && isDeepStrictEqual(before.lease.spec, lease.spec);
    this.#observed = { lease, at: isSame ? before.at : clock.monotonic() };
  }

  #heldByOther(): boolean {
    if (this.#observed === undefined) return false;
    const { lease, at } = this.#observed;
    const { holderIdentity = '', leaseDurationSeconds = this.#leaseMs / 1000 } = lease.spec ?? {};
    if (holderIdentity === '' || holderIdentity === this.#options.identity) return false;
    return this.#options.clock.monotonic() - at < leaseDurationSeconds * 1000;
  }

  #lease(before: Lease | undefined): Lease {
    const { namespace, name, identity, clock } = this.#options;
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
        leaseDurationSeconds: this.#leaseMs / 1000,
        acquireTime: isOurs ? (spec.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isOurs || before === undefined ? 0 : 1),
      },
    };
  }

  /** Empties the lease, so that the next candidate need not wait for the lease duration. */
  async #release(): Promise<void> {
    const { client, clock, identity, logger } = this.#options;
    const lease = this.#observed?.lease;
    if (lease?.spec?.holderIdentity !== identity) return;
    const now = microTime(clock.now());
    const times = { leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    const spec: LeaseSpec = { ...lease.spec, ...times, holderIdentity: '' };
    try {
      this.#observe(await client.replace({ ...lease, spec }, { timeoutMs: 5000 }));
    } catch (error) {
      logger.warn('the lease was not released; it expires after its lease duration', { error: messageOf(error) });
    }
  }
}
