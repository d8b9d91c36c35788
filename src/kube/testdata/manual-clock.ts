import type { Clock } from '../ports.ts';

/** A clock for tests: time passes only when told to, and timers fire in order. */
export class ManualClock implements Clock {
  #time: number;
  #timers: { at: number; callback: () => void }[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#time = start;
  }

  now(): Date {
    return new Date(this.#time);
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

  /** Lets time pass without running any timer, as it does while a process is suspended. */
  sleep(milliseconds: number): void {
    this.#time += milliseconds;
  }

  /** How long until each timer that is set, in milliseconds, soonest first. */
  pending(): number[] {
    return this.#timers.map(({ at }) => at - this.#time).sort((one, other) => one - other);
  }

  /** Lets time pass; what timers start (promises) runs in between. */
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

/** Lets promises that are already resolved run on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for something that real requests bring about. */
export async function until(what: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5000; turn += 1) {
    if (what()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`never came true: ${what.toString()}`);
}
