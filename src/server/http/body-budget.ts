/** A body in transfer. */
export interface BodyHolder {
  /** The bytes that the body holds; only the budget writes this field. */
  bytes: number;
  /** Whether the body's connection is unproven; such bodies are evicted first. */
  readonly expendable: boolean;
  /** Called on eviction: must refuse the request and release its memory. */
  giveUp(): void;
}

/** The size in bytes up to which expendable bodies are not preferred for eviction. */
const smallBody = 256 * 1024;

/**
 * Limits the memory and number of bodies in transfer. A normal review is small and arrives quickly.
 * When memory runs out, the budget therefore evicts the largest body, first among the large bodies
 * of unproven connections. When there are too many bodies, the budget evicts the oldest body.
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

  /** Adds a body; evicts the oldest body if there are too many. */
  enter(holder: BodyHolder): void {
    this.#holders.add(holder);
    if (this.#holders.size <= this.#limits.bodies) return;
    const [first = holder] = this.#holders;
    this.#giveUp(first);
  }

  /** Allocates bytes to a body. Returns false if the caller must refuse the body. */
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

  /** Returns the largest expendable body above {@link smallBody}, else the largest body. */
  #largest(requester: BodyHolder, bytes: number): BodyHolder {
    const sizeOf = (holder: BodyHolder): number => holder.bytes + (holder === requester ? bytes : 0);
    const larger = (one: BodyHolder, other: BodyHolder): BodyHolder => (sizeOf(other) > sizeOf(one) ? other : one);
    const holders = [requester, ...this.#holders];
    const expendable = holders.filter((holder) => holder.expendable && sizeOf(holder) > smallBody);
    return (expendable.length > 0 ? expendable : holders).reduce(larger);
  }
}
