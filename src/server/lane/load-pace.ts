/** How work that goes on beside requests rests. Milliseconds of work and of rest. */
export interface RestRules {
  /** So many times as long as a slice of the work took, */
  readonly rest: number;
  /** until so much has been done lately; then */
  readonly burst: number;
  /** so many times as long, */
  readonly longRest: number;
  /** until so much of each millisecond that passed has paid for it. */
  readonly recovery: number;
}

/**
 * A configuration or three are loaded as fast as a fifth of the thread allows. When changes do not end, requests would wait behind all of them: then loading takes a seventeenth. A change
 * a second, of templates like Istio's (25 ms), never gets there: what is paid back in a second is twice as much.
 */
export const defaultRestRules: RestRules = { rest: 4, burst: 80, longRest: 16, recovery: 0.05 };

/** Remembers how much was done lately while requests came. */
export class LoadPace {
  readonly #rules: RestRules;
  #done = 0;
  #at = -Infinity;

  constructor(rules: RestRules = defaultRestRules) {
    this.#rules = rules;
  }

  /**
   * @param worked how long the slice took that has just ended
   * @param now by the clock that measured it
   * @returns how long others are left alone for it
   */
  restAfter(worked: number, now: number): number {
    const { rest, burst, longRest, recovery } = this.#rules;
    this.#done = Math.max(0, this.#done - (now - this.#at) * recovery) + worked;
    this.#at = now;
    return worked * (this.#done > burst ? longRest : rest);
  }
}
