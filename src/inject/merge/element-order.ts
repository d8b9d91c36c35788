/**
 * The order of a merged list, as Kubernetes keeps it: the items that the patch names in the patch's order, the items that only the original has
 * in the original's; an original-only item goes before the next item of the patch exactly when the original had it before that item, too.
 */

/** How items are recognised: by their merge key, or, in a list of scalars, by their value. */
export type ItemKey<T> = (item: T) => unknown;

/** Merges both groups; neither is changed. `originalOrder` and `patchOrder` are the lists whose order counts. */
export function orderElements<T>(
  patchItems: readonly T[],
  originalOnlyItems: readonly T[],
  patchOrder: readonly T[],
  originalOrder: readonly T[],
  keyOf: ItemKey<T>,
): readonly T[] {
  const originalPlaces = placesOf(originalOrder, keyOf);
  const right = sortByPlace(patchItems, placesOf(patchOrder, keyOf), keyOf);
  const left = sortByPlace(originalOnlyItems, originalPlaces, keyOf);
  if (left.length === 0) return right;
  const merged: T[] = [];
  let next = 0;
  for (const item of right) {
    const place = originalPlaces.get(keyOf(item));
    for (; next < left.length; next += 1) {
      const waiting = left[next] as T;
      if (!isBefore(originalPlaces.get(keyOf(waiting)), place)) break;
      merged.push(waiting);
    }
    merged.push(item);
  }
  return [...merged, ...left.slice(next)];
}

/** Whether both stand in the original, in that order. */
function isBefore(place: number | undefined, other: number | undefined): boolean {
  return place !== undefined && other !== undefined && place < other;
}

/** Where each key stands first. */
function placesOf<T>(order: readonly T[], keyOf: ItemKey<T>): ReadonlyMap<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [place, item] of order.entries()) {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, place);
  }
  return places;
}

interface Placed<T> {
  readonly item: T;
  readonly place: number | undefined;
}

/** Stable. Items without a place are sorted as Kubernetes happens to sort them. */
function sortByPlace<T>(items: readonly T[], places: ReadonlyMap<unknown, number>, keyOf: ItemKey<T>): readonly T[] {
  const placed = items.map((item): Placed<T> => ({ item, place: places.get(keyOf(item)) }));
  const sorted = placed.some(({ place }) => place === undefined)
    ? insertByPlace(placed)
    : placed.toSorted((left, right) => (left.place ?? 0) - (right.place ?? 0));
  return sorted.map(({ item }) => item);
}

/**
 * An insertion sort. It is spelled out because Kubernetes compares so that an item without a place comes before every item ahead of it,
 * which is no order at all: the result depends on the algorithm, and Go sorts up to 20 items by insertion.
 */
function insertByPlace<T>(items: readonly Placed<T>[]): readonly Placed<T>[] {
  const sorted: Placed<T>[] = [];
  for (const item of items) {
    let index = sorted.length;
    for (; index > 0; index -= 1) {
      const placeAhead = sorted[index - 1]?.place;
      if (item.place !== undefined && placeAhead !== undefined && item.place >= placeAhead) break;
    }
    sorted.splice(index, 0, item);
  }
  return sorted;
}
