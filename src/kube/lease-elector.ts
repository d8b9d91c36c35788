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
  /** This process, different from every other candidate's. */
  identity: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** What the durations of the Lease are divided by, for tests; 1 unless told. */
  timeScale?: number;
  /** Told whenever another process becomes the holder. */
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

/** client-go's figures: held for 15 s, given up when not renewed for 10 s, tried every 2 s. */
const leaseSeconds = 15;
const renewDeadlineSeconds = 10;
const retrySeconds = 2;

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');

/**
 * Leader election by a Lease, with client-go's rules: a Lease counts as held for its duration after we saw it change, by our own clock (clocks
 * of other machines are never compared). It gives no fencing: for a moment there may be two leaders, and every write must bear that.
 */
export class LeaseElector {
  readonly #options: LeaseElectorOptions;
  readonly #leaseMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryMs: number;
  #observed: { lease: Lease; at: number } | undefined;
  /** When the last renewal that succeeded was begun; undefined while we do not lead. */
  #renewedAt: number | undefined;

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
    const { timeScale = 1 } = options;
    // The Lease says its duration in whole seconds.
    this.#leaseMs = Math.ceil(leaseSeconds / timeScale) * 1000;
    this.#renewDeadlineMs = (renewDeadlineSeconds * 1000) / timeScale;
    this.#retryMs = (retrySeconds * 1000) / timeScale;
  }

  /**
   * Until the signal aborts: waits for the lease, then runs `lead` with a signal that aborts as soon as the lease is lost. When `lead` has ended,
   * the lease is released and, unless we are told to stop, waited for again. Never rejects, unless `lead` does.
   */
  async run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, random } = this.#options;
    while (!signal.aborted) {
      if (await this.#tryOnce(signal)) await this.#lead(signal, lead);
      // client-go's JitterFactor of 1.2: candidates do not meet.
      else await pause(clock, this.#retryMs * (1 + 1.2 * random()), signal);
    }
  }

  /**
   * Whether the lease is ours at this moment, by our own clock and with some seconds to spare: true for no longer than the renew deadline after the
   * last renewal was begun, whatever timers and requests are late.
   */
  get holds(): boolean {
    return this.#renewedAt !== undefined && this.#options.clock.monotonic() - this.#renewedAt < this.#renewDeadlineMs;
  }

  async #lead(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    const { logger, name: lease, identity } = this.#options;
    logger.info('leading', { lease, identity });
    const leadership = new AbortController();
    // Each request under way listens; four passes at a time have more than ten, which is no leak.
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
      logger.info(lost ? 'the lease is lost' : 'the lease is released', { lease, identity });
    }
  }

  /** Renews until told to stop (false) or until it has not succeeded for the renew deadline (true, after aborting the leadership). */
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
      // Timers may be a fraction of a millisecond early: that the deadline's was there counts, not what the clock says.
      else if (this.#heldByOther() || attempt.signal.aborted || left() === 0) {
        this.#renewedAt = undefined;
        leadership.abort(new Error('the lease is lost'));
        return true;
      }
    }
  }

  /** One attempt to get or renew the lease. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, logger, clock } = this.#options;
    const began = clock.monotonic();
    try {
      const lease = await client.find<Lease>(leases, name, { namespace, signal, timeoutMs: this.#renewDeadlineMs / 2 });
      if (lease !== undefined) this.#observe(lease);
      if (lease !== undefined && this.#heldByOther()) return false;
      const wanted = this.#lease(lease);
      this.#observe(
        await (lease === undefined ? client.create(wanted, { signal }) : client.replace(wanted, { signal })),
      );
      this.#renewedAt = began;
      return true;
    } catch (error) {
      // A Conflict is another candidate who was faster.
      if (!isConflict(error) && !signal.aborted) {
        logger.warn('cannot get or renew the lease; trying again', { lease: name, error: messageOf(error) });
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

  /** Lets the next candidate begin at once instead of after the lease's duration. */
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
      logger.warn('the lease was not released; it expires by itself', { error: messageOf(error) });
    }
  }
}
