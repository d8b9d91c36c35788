import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** The timeout in milliseconds; default 60 s, generous for a busy machine. */
  timeout?: number;
  /** The milliseconds between two attempts; default 50. */
  interval?: number;
}

/** Returns a value once the awaited state is reached. */
export type Probe<Value> = () => Value | undefined | null | false | Promise<Value | undefined | null | false>;

/**
 * Calls `probe` until it returns something other than `undefined`, `null` or `false`; returns that.
 * An error of the probe counts as "not yet"; the last one is the cause of the final error.
 *
 * @param what the awaited state, to follow "waited for": `deployment default/sleep to be complete`
 * @throws Error with `what`, the time and the last observation
 */
export async function waitFor<Value>(what: string, probe: Probe<Value>, options: WaitOptions = {}): Promise<Value> {
  const { timeout = 60_000, interval = 50 } = options;
  const deadline = Date.now() + timeout;
  let cause: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== null && value !== false) return value;
      cause = undefined;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      cause = error;
    }
    if (Date.now() >= deadline) {
      const seen = cause instanceof Error ? `: ${cause.message}` : '';
      throw new Error(`waited ${(timeout / 1000).toFixed(1)} s for ${what}${seen}`, { cause });
    }
    await sleep(interval);
  }
}

/** Fails the wait at once. A probe throws it when waiting is pointless (a process has ended). */
export class Hopeless extends Error {
  override readonly name = 'Hopeless';
}

/** For probes: returns true if both are equal, else throws an error that shows the actual value. */
export function found(actual: string, expected: string): true {
  if (actual !== expected) throw new Error(`found ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  return true;
}

/** For probes: throws an error with the first few problems; returns true if there are none. */
export function none(problems: readonly string[]): true {
  const shown = problems.slice(0, 5).map((problem) => problem.slice(0, 500));
  return found(shown.join('; '), '');
}
