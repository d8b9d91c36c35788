/** Prints an error. Returns the exit status 1. */
export function printFailure(error: unknown): 1 {
  console.error(error instanceof Error ? error.message : error);
  return 1;
}
