export interface Choices {
  readonly one: <Item>(items: readonly Item[]) => Item;
  readonly chance: (probability: number) => boolean;
}

/** mulberry32: 32 bits of state, good enough to choose labels by. */
export function choices(seed: number): Choices {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    one: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to choose from');
      return item;
    },
    chance: (probability) => next() < probability,
  };
}
