import { sprintf } from './printf.ts';

/** A value inside an error message, where Go uses `%s`. */
export function printableInMessage(value: unknown): string {
  return sprintf('%s', [value]);
}
