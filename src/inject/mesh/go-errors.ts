/** Several errors as Go's go-multierror prints them: a count, then one line each. */
export function joinErrors(errors: readonly string[]): string {
  const heading = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  return `${heading}\n\t${errors.map((error) => `* ${error}`).join('\n\t')}\n\n`;
}
