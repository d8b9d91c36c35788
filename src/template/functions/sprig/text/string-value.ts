import type { Meter } from '../../../exec/meter.ts';
import { formatValue } from '../../go/print-value.ts';
import { elementsOf } from '../elements.ts';

/** sprig's strval: the text of any value. */
export function stringValue(value: unknown, meter: Meter): string {
  return typeof value === 'string' ? value : formatValue(value, meter);
}

/** sprig's strslice: the texts of a list's elements that are not nil; of anything else its own. */
export function stringValues(value: unknown, meter: Meter): string[] {
  const elements = elementsOf(value);
  if (elements === undefined) return value === null ? [] : [stringValue(value, meter)];
  return elements
    .filter((element) => element !== null)
    .map((element) => {
      const text = stringValue(element, meter);
      meter.spend(text.length);
      return text;
    });
}
