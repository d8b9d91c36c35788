import { ApiError, isConflict } from '../../kube/api-error.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import type { OperatorMetrics } from '../ports.ts';
import { RemovalBlockedError } from '../webhooks/removal.ts';

export interface ReconcileLoopOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: OperatorMetrics;
  /** Works on one key; resolves with the milliseconds until it is due again. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<number>;
}

/** How many keys are worked on at a time: a revision that is slow or fails does not hold up the others. */
const workers = 4;

/** A key that fails is tried again at least this often, in milliseconds: what is broken must not stay so long after its cause has gone. */
const longestBackOffMs = 30_000;

/** The keys of one leadership, each reconciled until it succeeds and again when it is due. */
export class ReconcileLoop {
  readonly #options: ReconcileLoopOptions;
  readonly #queue: WorkQueue;
  readonly #failing = new Set<string>();
  #isOutage = false;

  constructor(options: ReconcileLoopOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock, maximumMs: longestBackOffMs });
  }

  add(key: string): void {
    this.#queue.add(key);
    this.#options.metrics.queued?.(this.#queue.length);
  }

  /** The API server answers again: what failed meanwhile is tried at once. */
  recovered(): void {
    this.#isOutage = false;
    this.#queue.forgetAll();
    for (const key of this.#failing) this.#queue.add(key);
  }

  /** Works until the signal aborts and what was under way has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#queue.stop();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    await Promise.all(Array.from({ length: workers }, () => this.#work(signal)));
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#once(key, signal);
      this.#queue.done(key);
    }
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
    const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
    const delay = this.#queue.addRateLimited(key, asked);
    const { logger } = this.#options;
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    const fields = { key, again: `${Math.round(delay)} ms`, error: message };
    const isKnown = error instanceof ApiError || error instanceof RemovalBlockedError;
    // Somebody else was faster: the next pass starts from what they wrote.
    if (isConflict(error)) logger.debug('a write met a newer version; trying again', fields);
    else if (isKnown) logger.warn('a reconcile failed; trying again', fields);
    else logger.error('a reconcile failed unexpectedly; trying again', { ...fields, stack });
  }
}
