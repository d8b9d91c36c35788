import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import type { OperatorMetrics } from '../ports.ts';
import { RemovalBlockedError } from '../webhooks/removal.ts';

export interface ReconcileLoopOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: OperatorMetrics;
  /** Reconciles one key; resolves with the milliseconds until it is due again. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<number>;
}

/** The number of concurrent passes; more than one, so that a slow key does not delay the rest. */
const workers = 4;

/** The maximum back-off in milliseconds. It bounds the recovery time once the cause is gone. */
const longestBackOffMs = 30_000;

/** Reconciles keys during one leadership. Retries failed keys, and repeats keys that are due. */
export class ReconcileLoop {
  readonly #options: ReconcileLoopOptions;
  readonly #queue: WorkQueue;
  readonly #failing = new Set<string>();
  #isOutage = false;
  /** Resolves when the thread has rested after the last requested pass. */
  #rested = nextTurn();

  constructor(options: ReconcileLoopOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock, maximumMs: longestBackOffMs });
  }

  add(key: string): void {
    this.#queue.add(key);
    this.#options.metrics.queued?.(this.#queue.length);
  }

  /** Retries all failed keys immediately, because the API server answers again. */
  recovered(): void {
    this.#isOutage = false;
    this.#queue.forgetAll();
    for (const key of this.#failing) this.#queue.add(key);
  }

  /** Works until the signal aborts; resolves when all passes have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#queue.stop();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    await Promise.all(Array.from({ length: workers }, () => this.#work(signal)));
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#mayBegin(signal);
      if (!signal.aborted) await this.#once(key, signal);
      this.#queue.done(key);
    }
  }

  /**
   * Resolves after a rest that is as long as the turn of the event loop in which the last pass
   * began. A pass that sends no request ends in that turn. An admission on a new connection takes
   * several turns, so without rests it would wait for as many passes.
   */
  #mayBegin(signal: AbortSignal): Promise<unknown> {
    const { clock } = this.#options;
    const rested = this.#rested;
    this.#rested = rested.then(async () => {
      const began = clock.monotonic();
      await nextTurn();
      const took = clock.monotonic() - began;
      if (took > 0) await pause(clock, took, signal);
    });
    return rested;
  }

  async #once(key: string, signal: AbortSignal): Promise<void> {
    const { clock, metrics, reconcile } = this.#options;
    const began = clock.monotonic();
    const seconds = (): number => (clock.monotonic() - began) / 1000;
    try {
      const wait = await reconcile(key, signal);
      metrics.reconciled?.(key, 'Success', seconds());
      this.#queue.forget(key);
      this.#failing.delete(key);
      if (this.#isOutage) this.recovered();
      this.#queue.addAfter(key, wait);
    } catch (error) {
      if (signal.aborted) return;
      metrics.reconciled?.(key, isConflict(error) ? 'Conflict' : 'Error', seconds());
      this.#failed(key, error);
    }
  }

  #failed(key: string, error: unknown): void {
    this.#failing.add(key);
    if (error instanceof ApiError && (error.code === 0 || error.code >= 500)) this.#isOutage = true;
    const minimumMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
    const delay = this.#queue.addRateLimited(key, minimumMs);
    const { logger } = this.#options;
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    const fields = { key, again: `${Math.round(delay)} ms`, error: message };
    const isKnown = error instanceof ApiError || error instanceof RemovalBlockedError;
    // Another client wrote first; the next pass starts from the new version.
    if (isConflict(error)) logger.debug('a write conflicted with a newer version; retrying', fields);
    else if (isKnown) logger.warn('a reconcile failed; retrying', fields);
    else logger.error('a reconcile failed unexpectedly; retrying', { ...fields, stack });
  }
}
