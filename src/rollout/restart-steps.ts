/**
 * Work in steps, with the result at its end. Whoever runs it may let others have their turn after each step: tens of thousands of workloads are looked
 * at in a thread that answers admissions as well.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** All steps, one right after the other. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** So many at a time are looked at in one step. */
const lookedAtOnce = 50;

/** Looks at one after the other. */
export function* forEach<T>(items: Iterable<T>, look: (item: T) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    look(item);
    count += 1;
    if (count % lookedAtOnce === 0) yield;
  }
}

/** So many at a time are sorted, or merged, in one step. */
const sortedAtOnce = 250;

/** Sorts by key, as text. Of equal keys the one that was given first stays before the other. */
export function* inOrder<T extends { readonly key: string }>(items: readonly T[]): Steps<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += sortedAtOnce) {
    runs.push(items.slice(from, from + sortedAtOnce).sort(byKey));
    yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      longer.push(yield* merged(runs[index] ?? [], runs[index + 1] ?? []));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merged<T extends { readonly key: string }>(one: readonly T[], other: readonly T[]): Steps<T[]> {
  const all: T[] = [];
  let [left, right] = [0, 0];
  while (left + right < one.length + other.length) {
    const [first, second] = [one[left], other[right]];
    if (second === undefined || (first !== undefined && byKey(first, second) <= 0)) {
      if (first !== undefined) all.push(first);
      left += 1;
    } else {
      all.push(second);
      right += 1;
    }
    if (all.length % sortedAtOnce === 0) yield;
  }
  return all;
}

function byKey(one: { readonly key: string }, other: { readonly key: string }): number {
  return one.key === other.key ? 0 : one.key < other.key ? -1 : 1;
}
