import type { Meter } from './meter.ts';
import { sprintf } from './printf.ts';

/** A value inside an error message, where Go uses `%s`. */
export function printableInMessage(value: unknown, meter: Meter): string {
  return sprintf('%s', [value], meter);
}
