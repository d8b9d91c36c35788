/**
 * A computation in steps. The caller may yield to other work after each step: the thread that
 * examines tens of thousands of workloads also answers admission requests.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps without a break and returns the result. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The number of items per step. */
const lookedAtOnce = 50;

/** Visits all items in steps. */
export function* forEach<T>(items: Iterable<T>, look: (item: T) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    look(item);
    count += 1;
    if (count % lookedAtOnce === 0) yield;
  }
}
