/**
 * A set of places in the data that templates see: what the value of an expression may have come from. A place is its names from the root,
 * each after a NUL, e.g. NUL `ObjectMeta` NUL `Annotations` NUL `example.com/a`; `*` stands for any element. A place that begins with `=`
 * is meant with all that is below it: what a function made of a map is no map with the same keys.
 */
export type Places = ReadonlySet<string>;

export const nowhere: Places = new Set();
export const root: Places = new Set(['']);

/** Deeper places are meant as a whole: a template that calls itself would never come to an end. */
const maximumDepth = 12;

/** The members of that name of everything in `places`. */
export function memberOf(places: Places, ...names: readonly string[]): Places {
  if (names.length === 0) return places;
  const result = new Set<string>();
  for (const place of places) {
    if (place.startsWith('=')) result.add(place);
    else if (place.split('\0').length + names.length > maximumDepth) result.add(`=${place}`);
    else result.add([place, ...names].join('\0'));
  }
  return result;
}

/** The same places with all that is below them. */
export function whole(places: Places): Places {
  return new Set([...places].map((place) => (place.startsWith('=') ? place : `=${place}`)));
}

export function union(...sets: readonly Places[]): Places {
  const filled = sets.filter((set) => set.size > 0);
  return filled.length === 1 && filled[0] !== undefined ? filled[0] : new Set(filled.flatMap((set) => [...set]));
}

/** The names from the root. */
export function namesOf(place: string): readonly string[] {
  return place.replace(/^=/, '').split('\0').slice(1);
}
