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
