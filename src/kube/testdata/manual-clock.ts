import type { Clock } from '../ports.ts';

/** A clock for tests: time passes only when a test advances it, and timers fire in order. */
export class ManualClock implements Clock {
  #time: number;
  #timers: { at: number; callback: () => void }[] = [];
  /** The error of `now()`, in milliseconds; `monotonic()` and timers have none. */
  skew = 0;

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#time = start;
  }

  now(): Date {
    return new Date(this.#time + this.skew);
  }

  monotonic(): number {
    return this.#time;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#time + Math.max(milliseconds, 0), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Advances the time without running timers, as in a suspended process. */
  sleep(milliseconds: number): void {
    this.#time += milliseconds;
  }

  /** Returns the remaining milliseconds of all timers, shortest first. */
  pending(): number[] {
    return this.#timers.map(({ at }) => at - this.#time).sort((one, other) => one - other);
  }

  /** Advances the time and runs the timers that become due, and their promises. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#time + milliseconds;
    await settle();
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#time = Math.max(this.#time, next.at);
      next.callback();
      await settle();
    }
    this.#time = end;
    await settle();
  }
}

/** Lets resolved promises run their continuations. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Polls, for at most 5000 turns of 1 ms, until a real request makes the condition true. */
export async function until(what: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5000; turn += 1) {
    if (what()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`the condition stayed false: ${what.toString()}`);
}
