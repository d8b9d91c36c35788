/** What waits for the lane. */
export interface Waiting {
  readonly bytes: number;
}

/**
 * What waits for the lane, the smallest first: large bodies cost little to send, and must not keep out the others. Beyond a bound the largest has
 * to go, be it the newest.
 */
export class LaneQueue<Job extends Waiting> {
  readonly #bounds: { readonly maxWaiting: number; readonly maxWaitingBytes: number };
  /** By size; of one size, in order of arrival. */
  readonly #reviews: Job[] = [];
  #bytes = 0;

  constructor(bounds: { readonly maxWaiting: number; readonly maxWaitingBytes: number }) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#reviews.length;
  }

  /** Of the reviews that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns those for which there is no room any more */
  add(job: Job): Job[] {
    const place = this.#reviews.findIndex((other) => other.bytes > job.bytes);
    this.#reviews.splice(place === -1 ? this.#reviews.length : place, 0, job);
    this.#bytes += job.bytes;
    const refused: Job[] = [];
    const { maxWaiting, maxWaitingBytes } = this.#bounds;
    while (this.#reviews.length > maxWaiting || this.#bytes > maxWaitingBytes) {
      const largest = this.#reviews.pop();
      if (largest === undefined) break;
      this.#bytes -= largest.bytes;
      refused.push(largest);
    }
    return refused;
  }

  next(): Job | undefined {
    const smallest = this.#reviews.shift();
    this.#bytes -= smallest?.bytes ?? 0;
    return smallest;
  }
}
