import type { CustomType } from './go-types.ts';
import { describeJson, PodTypeError, typeMismatch, type Place } from './pod-type-error.ts';
import { canonicalQuantity, QuantityError } from './quantity.ts';
import { canonicalTimestamp } from './timestamp.ts';

const INT32 = 'int32';

/** Decodes and encodes a value that is not null as the type's own methods do. @throws PodTypeError, which ends the decoding */
export function decodeCustom(type: CustomType, value: unknown, place: Place): unknown {
  switch (type.format) {
    case 'quantity':
      return decodeQuantity(value, place);
    case 'int-or-string':
      return decodeIntOrString(value, place);
    case 'time':
      return decodeTime(value, place);
    case 'raw':
      return value;
  }
}

/** What the zero value is encoded as. */
export function zeroOfCustom(type: CustomType): unknown {
  switch (type.format) {
    case 'quantity':
      return '0';
    case 'int-or-string':
      return 0;
    default:
      return null;
  }
}

/** Go reads the text that stands in the JSON. That of a number may be a quantity; no other can, and is as good as none. */
function decodeQuantity(value: unknown, place: Place): string {
  try {
    return canonicalQuantity(typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    throw new PodTypeError(place.path.join('.'), error.message, { cause: error });
  }
}

function decodeIntOrString(value: unknown, place: Place): string | number {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw typeMismatch(place, describeJson(value), INT32);
  if (!Number.isInteger(value) || value !== (value | 0)) throw typeMismatch(place, `number ${value}`, INT32);
  return value;
}

function decodeTime(value: unknown, place: Place): string | null {
  if (typeof value !== 'string') throw typeMismatch(place, describeJson(value), 'string');
  const time = canonicalTimestamp(value);
  if (time === undefined) {
    const layout = '2006-01-02T15:04:05Z07:00';
    throw new PodTypeError(
      place.path.join('.'),
      `parsing time ${JSON.stringify(value)} as "${layout}": not a timestamp by RFC 3339`,
    );
  }
  return time;
}
