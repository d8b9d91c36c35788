/** A body that is being received. */
export interface BodyHolder {
  /** What it holds of the budget; kept by the budget alone. */
  bytes: number;
  /** Whether it is given up before others: none of its connection's requests has been answered yet. */
  readonly expendable: boolean;
  /** Called when the budget is needed by others: refuse the request, and hold nothing from now on. */
  giveUp(): void;
}

/** Bytes. A body up to this size is nobody's attack: it is not given up in place of a larger one, whosever that is. */
const smallBody = 256 * 1024;

/**
 * What all bodies being received share: memory, and places. A healthy review is small and there at once. So when memory runs out, the largest body is given up, a large
 * one of an expendable connection before any other, be it the one that asks; and when the places run out, the one that has been waiting longest. A flood
 * of large or slow bodies pays for itself.
 */
export class BodyBudget {
  readonly #limits: { readonly bytes: number; readonly bodies: number };
  /** In order of arrival. */
  readonly #holders = new Set<BodyHolder>();
  #used = 0;

  constructor(limits: { readonly bytes: number; readonly bodies: number }) {
    this.#limits = limits;
  }

  /** Bytes that are lent. */
  get used(): number {
    return this.#used;
  }

  /** A body begins. */
  enter(holder: BodyHolder): void {
    this.#holders.add(holder);
    if (this.#holders.size <= this.#limits.bodies) return;
    const [first = holder] = this.#holders;
    this.#giveUp(first);
  }

  /** Takes bytes for a body; false when there are none left for it. What it already holds stays until {@link release}. */
  take(holder: BodyHolder, bytes: number): boolean {
    while (this.#used + bytes > this.#limits.bytes) {
      const victim = this.#largest(holder, bytes);
      if (victim === holder) return false;
      this.#giveUp(victim);
    }
    this.#used += bytes;
    holder.bytes += bytes;
    return true;
  }

  /** A body ends: everything that it holds comes back. */
  release(holder: BodyHolder): void {
    this.#used -= holder.bytes;
    holder.bytes = 0;
    this.#holders.delete(holder);
  }

  #giveUp(victim: BodyHolder): void {
    this.release(victim);
    victim.giveUp();
  }

  /** The largest body of an expendable connection, if that is worth anything, else the largest of all. */
  #largest(asker: BodyHolder, bytes: number): BodyHolder {
    let largest = asker;
    let most = asker.bytes + bytes;
    let expendable = asker.expendable ? asker : undefined;
    let mostExpendable = expendable === undefined ? smallBody : most;
    for (const holder of this.#holders) {
      if (holder === asker) continue;
      if (holder.bytes > most) {
        largest = holder;
        most = holder.bytes;
      }
      if (holder.expendable && holder.bytes > mostExpendable) {
        expendable = holder;
        mostExpendable = holder.bytes;
      }
    }
    return mostExpendable > smallBody && expendable !== undefined ? expendable : largest;
  }
}
