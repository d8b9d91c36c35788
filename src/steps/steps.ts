/**
 * Work in small steps, one for each `next()`. The caller may do other work after each step, because
 * the thread that parses templates or plans restarts also answers admission requests.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps without a break and returns the result. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The number of items per step. */
const itemsPerStep = 50;

/** Visits all items in steps. */
export function* forEach<T>(items: Iterable<T>, visit: (item: T) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    visit(item);
    count += 1;
    if (count % itemsPerStep === 0) yield;
  }
}
