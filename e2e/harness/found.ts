/** For a check's probe: true when both are equal, else an error that shows what was found, which the deadline's message repeats. */
export function found(actual: string, expected: string): true {
  if (actual !== expected) throw new Error(`found ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  return true;
}
