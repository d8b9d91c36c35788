/** A body in transfer. */
export interface BodyHolder {
  /** The bytes that the body holds; only the budget writes this field. */
  bytes: number;
  /** Whether the body's connection is unproven; such bodies are evicted first. */
  readonly expendable: boolean;
  /** Called on eviction: must refuse the request and release its memory. */
  giveUp(): void;
}

/** Bytes. The budget never prefers an expendable body up to this size for eviction. */
const smallBody = 256 * 1024;

/**
 * The memory and number of all bodies in transfer. A normal review is small and arrives at once.
 * Therefore, when memory runs out, the budget evicts the largest body (large bodies of unproven
 * connections first, including the one that needs memory); beyond the number, it evicts the oldest.
 */
export class BodyBudget {
  readonly #limits: { readonly bytes: number; readonly bodies: number };
  /** Bodies in order of arrival. */
  readonly #holders = new Set<BodyHolder>();
  #used = 0;

  constructor(limits: { readonly bytes: number; readonly bodies: number }) {
    this.#limits = limits;
  }

  get used(): number {
    return this.#used;
  }

  /** Adds a body; evicts the oldest if there are too many. */
  enter(holder: BodyHolder): void {
    this.#holders.add(holder);
    if (this.#holders.size <= this.#limits.bodies) return;
    const [first = holder] = this.#holders;
    this.#giveUp(first);
  }

  /** Takes bytes for a body. Returns false if the caller must refuse the body. */
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

  /** Removes a body and returns its bytes to the budget. */
  release(holder: BodyHolder): void {
    this.#used -= holder.bytes;
    holder.bytes = 0;
    this.#holders.delete(holder);
  }

  #giveUp(victim: BodyHolder): void {
    this.release(victim);
    victim.giveUp();
  }

  /** Returns the largest expendable body above {@link smallBody}, else the largest of all. */
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
