/**
 * A computation in steps. The caller may do other work after each step, because the thread that
 * examines tens of thousands of workloads also answers admission requests.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps without a break and returns the result. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
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
