import { BackOff } from './back-off.ts';
import type { Clock } from './ports.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** The longest back-off, in ms (the first takes 5 ms); default 1,000,000 as in client-go. */
  maximumMs?: number;
  /** The number of retries over all keys before the limit of 10 a second applies; default 100. */
  burst?: number;
}

/** The interval between retries over all keys after the burst, in milliseconds. */
const retryIntervalMs = 100;

/**
 * A queue with client-go's workqueue rules: a waiting key is not added twice, and a key that is
 * added during its processing is handed out again after {@link done}.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  readonly #burst: number;
  /** The time at which the bucket of retries is full again: each retry takes one token. */
  #bucketFullAt = Number.NEGATIVE_INFINITY;
  readonly #ready: string[] = [];
  readonly #dirty = new Set<string>();
  readonly #processing = new Set<string>();
  readonly #later = new Map<string, { at: number; cancel: () => void }>();
  /** The time at which a failed key is due again. */
  readonly #retryAt = new Map<string, number>();
  readonly #pendingTakes: ((key: string | undefined) => void)[] = [];
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#backOff = new BackOff({ baseMs: 5, maximumMs: options.maximumMs ?? 1_000_000 });
    this.#burst = options.burst ?? 100;
  }

  /** The number of keys that are ready to be taken; delayed keys do not count. */
  get length(): number {
    return this.#ready.length;
  }

  add(key: string): void {
    if (this.#stopped || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#offer(key);
  }

  /** Adds a key after the given milliseconds; the earliest of several times counts. */
  addAfter(key: string, milliseconds: number): void {
    if (this.#stopped) return;
    if (milliseconds <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.monotonic() + milliseconds;
    const waiting = this.#later.get(key);
    if (waiting !== undefined && waiting.at <= at) return;
    waiting?.cancel();
    const cancel = this.#clock.after(milliseconds, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, cancel });
  }

  /**
   * Adds a key after its back-off, within the overall rate, and after at least `atLeast`
   * milliseconds. Returns the delay in milliseconds. A call during the back-off does not extend it.
   */
  addRateLimited(key: string, atLeast = 0): number {
    const now = this.#clock.monotonic();
    const left = (this.#retryAt.get(key) ?? now) - now;
    const delay = Math.max(left > 0 ? left : Math.max(this.#backOff.next(key), this.#takeToken()), atLeast);
    this.#retryAt.set(key, now + delay);
    this.addAfter(key, delay);
    return delay;
  }

  /** Resets the back-off of a key after a success. */
  forget(key: string): void {
    this.#backOff.forget(key);
    this.#retryAt.delete(key);
  }

  /** Resets every back-off, after an outage of the API server. */
  forgetAll(): void {
    this.#backOff.forgetAll();
    this.#retryAt.clear();
  }

  /** Resolves with the next key, or undefined after {@link stop}. Call {@link done} for each. */
  take(): Promise<string | undefined> {
    if (this.#stopped) return Promise.resolve(undefined);
    const key = this.#ready.shift();
    if (key === undefined) return new Promise((resolve) => this.#pendingTakes.push(resolve));
    this.#begin(key);
    return Promise.resolve(key);
  }

  /** Ends the processing of a key, whatever its result. */
  done(key: string): void {
    this.#processing.delete(key);
    if (this.#dirty.has(key) && !this.#stopped) this.#offer(key);
  }

  /** Drops all keys; pending calls of {@link take} get undefined. */
  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#ready.length = 0;
    this.#dirty.clear();
    for (const resolve of this.#pendingTakes.splice(0)) resolve(undefined);
  }

  #offer(key: string): void {
    const resolve = this.#pendingTakes.shift();
    if (resolve === undefined) {
      this.#ready.push(key);
      return;
    }
    this.#begin(key);
    resolve(key);
  }

  #begin(key: string): void {
    this.#dirty.delete(key);
    this.#processing.add(key);
  }

  /** Takes a token of the bucket; returns how long to wait for it, in milliseconds. */
  #takeToken(): number {
    const now = this.#clock.monotonic();
    this.#bucketFullAt = Math.max(this.#bucketFullAt, now) + retryIntervalMs;
    return Math.max(0, this.#bucketFullAt - now - this.#burst * retryIntervalMs);
  }
}
