/** Work in small pieces, so that somebody else can have a turn in between: each `next()` does one of them. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does all of it at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
