/** A body that is being received. */
export interface BodyHolder {
  /** What it holds of the budget; kept by the budget alone. */
  bytes: number;
  /** Whether its connection may be given up under pressure: none of its requests has been answered yet. */
  readonly expendable: boolean;
  /** Called when the budget is needed by others: refuse the request, and hold nothing from now on. */
  giveUp(): void;
}

/**
 * The memory that all bodies being received share. When it runs out, the largest body of an expendable connection is given up first, be it the one that
 * asks: a healthy review is small, and an API server's connection soon has an answered one, so a flood of large or slow bodies pays for itself.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #holders = new Set<BodyHolder>();
  #used = 0;

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes bytes for a body; false when there are none left for it. What it already holds stays until {@link release}. */
  take(holder: BodyHolder, bytes: number): boolean {
    while (this.#used + bytes > this.#limit) {
      const victim = this.#largestExpendable(holder, bytes);
      if (victim === undefined || victim === holder) return false;
      this.release(victim);
      victim.giveUp();
    }
    this.#used += bytes;
    holder.bytes += bytes;
    this.#holders.add(holder);
    return true;
  }

  /** Gives back everything that a body holds. */
  release(holder: BodyHolder): void {
    this.#holders.delete(holder);
    this.#used -= holder.bytes;
    holder.bytes = 0;
  }

  #largestExpendable(asker: BodyHolder, bytes: number): BodyHolder | undefined {
    let largest: BodyHolder | undefined = asker.expendable ? asker : undefined;
    let most = asker.expendable ? asker.bytes + bytes : 0;
    for (const holder of this.#holders) {
      if (holder === asker || !holder.expendable || holder.bytes <= most) continue;
      largest = holder;
      most = holder.bytes;
    }
    return largest;
  }
}
