import type { Random } from './ports.ts';

export interface BackOffOptions {
  baseMs: number;
  maximumMs: number;
  /** Draws each delay between 50% and 100% of its nominal length, to spread the clients. */
  random?: Random;
}

/** Delays that double with each consecutive failure, separately for each key. */
export class BackOff {
  readonly #options: BackOffOptions;
  readonly #failures = new Map<string, number>();

  constructor(options: BackOffOptions) {
    this.#options = options;
  }

  /** Counts a failure and returns the delay before the next attempt, in milliseconds. */
  next(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseMs, maximumMs, random } = this.#options;
    const nominal = Math.min(baseMs * 2 ** Math.min(failures, 62), maximumMs);
    return random === undefined ? nominal : nominal * (0.5 + random() / 2);
  }

  /** Forgets the failures of a key. @returns whether the key had failed */
  forget(key: string): boolean {
    return this.#failures.delete(key);
  }

  forgetAll(): void {
    this.#failures.clear();
  }
}
