import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Milliseconds until the wait is given up; 60 s when unset: long for what a busy machine may be late with, and no statement. */
  timeout?: number;
  /** Milliseconds between two attempts; 50 when unset. */
  interval?: number;
}

/** Answers with something when what it looks for is there. */
export type Probe<Value> = () => Value | undefined | null | false | Promise<Value | undefined | null | false>;

/**
 * Calls `probe` until it answers with something other than `undefined`, `null` or `false`, and returns that.
 * An error of the probe counts as "not yet"; the last one is the cause of the error at the deadline.
 *
 * @param what the awaited state as it reads after "waited for", for example `deployment default/sleep to be complete`
 * @throws Error naming `what`, the time and the last thing seen
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

/** Thrown by a probe when waiting longer cannot help (a process has ended): the wait fails at once with this error. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless';
}

/** For a check's probe: true when both are equal, else an error that shows what was found, which the deadline's message repeats. */
export function found(actual: string, expected: string): true {
  if (actual !== expected) throw new Error(`found ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  return true;
}

/** The same for what there must be none of: the error shows the first few, each as far as a person reads. */
export function none(problems: readonly string[]): true {
  const shown = problems.slice(0, 5).map((problem) => problem.slice(0, 500));
  return found(shown.join('; '), '');
}
