import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** The timeout in milliseconds; default 150 s, because machines may be slow. */
  timeout?: number;
  /** The milliseconds between two attempts; default 50. */
  interval?: number;
}

/** A function that returns a value once the awaited state is reached. */
export type Probe<Value> = () => Value | undefined | null | false | Promise<Value | undefined | null | false>;

/**
 * Calls `probe` until it returns a value other than `undefined`, `null` or `false`. Returns this
 * value. If the probe throws, it is called again; the last error is the cause of the final error.
 *
 * @param what the awaited state after "waited for", as in `deployment default/sleep to be complete`
 * @throws Error with `what`, the time and the last observation
 */
export async function waitFor<Value>(what: string, probe: Probe<Value>, options: WaitOptions = {}): Promise<Value> {
  const { timeout = 150_000, interval = 50 } = options;
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

/** An error that a probe throws to end the wait, because the state can no longer be reached. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless';
}

/** Returns true if both texts are equal; else throws an error that shows the actual text. */
export function found(actual: string, expected: string): true {
  if (actual !== expected) throw new Error(`found ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  return true;
}

/** Returns true if there are no problems; else throws an error with the first few problems. */
export function none(problems: readonly string[]): true {
  const shown = problems.slice(0, 5).map((problem) => problem.slice(0, 500));
  return found(shown.join('; '), '');
}
