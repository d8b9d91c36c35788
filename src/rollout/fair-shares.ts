/** How many namespaces may have a turn that has not ended. */
const maxTurns = 1000;

/**
 * Shares a queue among namespaces, so that an author who fills it does not delay other namespaces
 * by more than their turns (start-time fair queueing). The namespace with the least start is next.
 * A namespace that used no turn for a while saves nothing up.
 */
export class FairShares {
  /** The start of the turn that was served last. */
  #now = 0;
  /** When the last turn of a namespace ends, if this is later than `#now`. */
  readonly #ends = new Map<string, number>();

  /** Returns a copy, for a plan that may not be carried out. */
  copy(): FairShares {
    const copied = new FairShares();
    copied.#now = this.#now;
    for (const [namespace, end] of this.#ends) copied.#ends.set(namespace, end);
    return copied;
  }

  /** Returns when the next turn of a namespace starts. */
  startOf(namespace: string): number {
    return this.#ends.get(namespace) ?? this.#now;
  }

  /** Notes that a namespace was served. @param cost of its turn, for example the time it took */
  serve(namespace: string, cost = 1): void {
    this.#now = Math.max(this.#now, this.startOf(namespace));
    this.#ends.set(namespace, this.#now + cost);
    // Only a client that invents namespaces has so many open turns.
    if (this.#ends.size > maxTurns) this.#now = Math.min(...this.#ends.values());
    for (const [each, end] of this.#ends) if (end <= this.#now) this.#ends.delete(each);
  }

  /**
   * Yields the items of a queue. Whenever the caller serves a namespace, the next one has its turn.
   * Items that cannot be served thus cost no turn. Keeps the order within each namespace.
   */
  *inTurns<T>(queue: readonly T[], namespaceOf: (item: T) => string): Generator<T, void> {
    const groups = new Map<string, T[]>();
    for (const item of queue) {
      const items = groups.get(namespaceOf(item));
      if (items === undefined) groups.set(namespaceOf(item), [item]);
      else items.push(item);
    }
    const start = ([namespace]: readonly [string, unknown]): number => this.startOf(namespace);
    const order = [...groups].sort((one, other) => start(one) - start(other));
    for (let next = order.shift(); next !== undefined; next = order.shift()) {
      const [namespace, items] = next;
      const turn = this.startOf(namespace);
      let yielded = 0;
      for (const item of items) {
        if (this.startOf(namespace) !== turn) break;
        yielded += 1;
        yield item;
      }
      if (yielded === items.length) continue;
      const later = order.findIndex((each) => start(each) > this.startOf(namespace));
      const rest: [string, T[]] = [namespace, items.slice(yielded)];
      order.splice(later === -1 ? order.length : later, 0, rest);
    }
  }
}

/**
 * Removes the last item of the namespace that takes most of a full queue, and returns the item.
 * @param weightOf by default, each item counts once
 */
export function takeFromLargest<T extends { readonly namespace: string }>(
  queue: T[],
  weightOf: (item: T) => number = () => 1,
): T | undefined {
  const weights = new Map<string, number>();
  for (const item of queue) weights.set(item.namespace, (weights.get(item.namespace) ?? 0) + weightOf(item));
  const largest = [...weights].sort(([, one], [, other]) => other - one)[0]?.[0];
  return queue.splice(
    queue.findLastIndex(({ namespace }) => namespace === largest),
    1,
  )[0];
}
