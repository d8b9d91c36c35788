import type { Random } from './ports.ts';

export interface BackOffOptions {
  baseMs: number;
  maximumMs: number;
  /** With randomness each delay is between half of its nominal length and all of it, so that many clients do not come back at once. */
  random?: Random;
}

/** Delays that double with each failure in a row; one series per key. */
export class BackOff {
  readonly #options: BackOffOptions;
  readonly #failures = new Map<string, number>();

  constructor(options: BackOffOptions) {
    this.#options = options;
  }

  /** Counts a failure and says how long to wait, in milliseconds. */
  next(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseMs, maximumMs, random } = this.#options;
    const nominal = Math.min(baseMs * 2 ** Math.min(failures, 62), maximumMs);
    return random === undefined ? nominal : nominal * (0.5 + random() / 2);
  }

  /** @returns whether it had failed */
  forget(key: string): boolean {
    return this.#failures.delete(key);
  }

  forgetAll(): void {
    this.#failures.clear();
  }
}
