import type { CustomType } from './go-types.ts';
import { describeJson, PodTypeError, typeMismatch, type Place } from './pod-type-error.ts';
import { canonicalQuantity, QuantityError } from './quantity.ts';

const INT32 = 'int32';

/** Decodes and encodes a value that is not null as the type's own methods do. @throws PodTypeError, which ends the decoding */
export function decodeCustom({ format }: CustomType, value: unknown, place: Place): unknown {
  if (format === 'quantity') return decodeQuantity(value, place);
  if (format === 'int-or-string') return decodeIntOrString(value, place);
  return format === 'time' ? decodeTime(value, place) : value;
}

/** What the zero value is encoded as. */
export const customZeros = { quantity: '0', 'int-or-string': 0, time: null, raw: null } as const;

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
    const problem = `parsing time ${JSON.stringify(value)} as "${layout}": not a timestamp by RFC 3339`;
    throw new PodTypeError(place.path.join('.'), problem);
  }
  return time;
}

/** What Go's time package prints for the zero time; metav1.Time turns it into null. */
const ZERO = '0001-01-01T00:00:00Z';
const CANONICAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
const RFC3339 = /^(\d{4}-\d{2}-\d{2}T)(\d{1,2})(:\d{2}:\d{2})(?:[.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * The timestamp as metav1.Time prints it after reading it: in UTC and in whole seconds. `null` for the zero time.
 * `undefined` when the text is no timestamp by RFC 3339 (as Go's time package reads it: one digit of the hour is enough).
 */
export function canonicalTimestamp(text: string): string | null | undefined {
  const [, date, hour, time, zone] = RFC3339.exec(text) ?? [];
  if (date === undefined || hour === undefined || time === undefined || zone === undefined) return undefined;
  const local = `${date}${hour.padStart(2, '0')}${time}Z`;
  const milliseconds = Date.parse(local);
  // Date.parse lets 30 February and the hour 24 pass.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 19) !== local.slice(0, 19))
    return undefined;
  const offset = offsetMinutes(zone);
  if (offset === undefined) return undefined;
  if (CANONICAL.test(text)) return text === ZERO ? null : text;
  const utc = new Date(milliseconds - offset * 60_000).toISOString();
  const seconds = `${utc.slice(0, utc.indexOf('.'))}Z`;
  return seconds === ZERO ? null : seconds;
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes > 60) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
