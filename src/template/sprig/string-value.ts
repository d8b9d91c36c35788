import { formatValue } from '../print-value.ts';
import { elementsOf } from './elements.ts';

/** sprig's strval: the text of any value. */
export function stringValue(value: unknown): string {
  return typeof value === 'string' ? value : formatValue(value);
}

/** sprig's strslice: the texts of a list's elements that are not nil; of anything else its own. */
export function stringValues(value: unknown): string[] {
  const elements = elementsOf(value);
  if (elements !== undefined) return elements.filter((element) => element !== null).map(stringValue);
  return value === null ? [] : [stringValue(value)];
}
