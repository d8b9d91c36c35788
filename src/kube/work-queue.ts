import { BackOff } from './back-off.ts';
import type { Clock } from './ports.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** Back-off per key, in milliseconds: 5 ms to 1000 s unless told, as client-go's DefaultTypedControllerRateLimiter. */
  maximumMs?: number;
  /** Retries over all keys at once; beyond it 10 a second. 100 unless told. */
  burst?: number;
}

/** Milliseconds between retries over all keys, beyond the burst. */
const retryIntervalMs = 100;

/**
 * Keys to work on, with client-go's workqueue rules: a key that waits already is not added twice; one that is being worked on is handed out
 * again only when it is done, once, however often it was added meanwhile.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  readonly #burst: number;
  /** When the bucket of retries would be full again: each retry takes one token. */
  #bucketFullAt = Number.NEGATIVE_INFINITY;
  readonly #ready: string[] = [];
  readonly #dirty = new Set<string>();
  readonly #processing = new Set<string>();
  readonly #later = new Map<string, { at: number; cancel: () => void }>();
  /** When a key that has failed is due again. */
  readonly #retryAt = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#backOff = new BackOff({ baseMs: 5, maximumMs: options.maximumMs ?? 1_000_000 });
    this.#burst = options.burst ?? 100;
  }

  /** Keys that wait to be taken; not those that wait for their time. */
  get length(): number {
    return this.#ready.length;
  }

  /** As soon as possible. */
  add(key: string): void {
    if (this.#stopped || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#offer(key);
  }

  /** After so many milliseconds; of several times for one key the soonest counts. */
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
   * After the key's back-off, not faster than the overall rate, and not sooner than asked; returns the delay in milliseconds.
   * A key that was worked on before its back-off was due, because it was added meanwhile, goes on waiting: events do not make it slower.
   */
  addRateLimited(key: string, atLeast = 0): number {
    const now = this.#clock.monotonic();
    const left = (this.#retryAt.get(key) ?? now) - now;
    const delay = Math.max(left > 0 ? left : Math.max(this.#backOff.next(key), this.#takeToken()), atLeast);
    this.#retryAt.set(key, now + delay);
    this.addAfter(key, delay);
    return delay;
  }

  /** The key has succeeded: its next failure begins with the shortest back-off. */
  forget(key: string): void {
    this.#backOff.forget(key);
    this.#retryAt.delete(key);
  }

  /** The API server answers again after an outage: whatever failed meanwhile is tried now, and no key pays for it. */
  forgetAll(): void {
    this.#backOff.forgetAll();
    this.#retryAt.clear();
  }

  /** The next key, as soon as there is one; undefined once the queue is stopped. Each key taken must be given back by {@link done}. */
  take(): Promise<string | undefined> {
    if (this.#stopped) return Promise.resolve(undefined);
    const key = this.#ready.shift();
    if (key === undefined) return new Promise((resolve) => this.#takers.push(resolve));
    this.#begin(key);
    return Promise.resolve(key);
  }

  /** The work on a key has ended, whatever its outcome. */
  done(key: string): void {
    this.#processing.delete(key);
    if (this.#dirty.has(key) && !this.#stopped) this.#offer(key);
  }

  /** Drops everything that waits; takers get undefined. */
  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#ready.length = 0;
    this.#dirty.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #offer(key: string): void {
    const taker = this.#takers.shift();
    if (taker === undefined) {
      this.#ready.push(key);
      return;
    }
    this.#begin(key);
    taker(key);
  }

  #begin(key: string): void {
    this.#dirty.delete(key);
    this.#processing.add(key);
  }

  /** How long to wait for a token of the bucket, in milliseconds. */
  #takeToken(): number {
    const now = this.#clock.monotonic();
    this.#bucketFullAt = Math.max(this.#bucketFullAt, now) + retryIntervalMs;
    return Math.max(0, this.#bucketFullAt - now - this.#burst * retryIntervalMs);
  }
}
