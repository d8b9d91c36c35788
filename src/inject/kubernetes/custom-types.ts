import type { CustomType } from './go-types.ts';
import { describeJson, PodTypeError, typeMismatch, type DecoderPosition } from './pod-type-error.ts';
import { canonicalQuantity, QuantityError } from './quantity.ts';

const INT32 = 'int32';

/** Decodes and encodes a non-null value as the type's own methods do. @throws PodTypeError */
export function decodeCustom({ format }: CustomType, value: unknown, position: DecoderPosition): unknown {
  if (format === 'quantity') return decodeQuantity(value, position);
  if (format === 'int-or-string') return decodeIntOrString(value, position);
  return format === 'time' ? decodeTime(value, position) : value;
}

/** The encoded zero values. */
export const customZeros = { quantity: '0', 'int-or-string': 0, time: null, raw: null } as const;

/** Decodes a quantity from a string or number; any other value is invalid, like an empty text. */
function decodeQuantity(value: unknown, position: DecoderPosition): string {
  try {
    return canonicalQuantity(typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    const field = position.path.join('.');
    const shown = JSON.stringify(value).slice(0, longestShown);
    throw new PodTypeError(field, error.message, { cause: error }, `: ${shown} in ${field}`);
  }
}

/** The maximum length of a value in a message, in characters. */
const longestShown = 80;

function decodeIntOrString(value: unknown, position: DecoderPosition): string | number {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw typeMismatch(position, describeJson(value), INT32);
  if (!Number.isInteger(value) || value !== (value | 0)) throw typeMismatch(position, `number ${value}`, INT32);
  return value;
}

function decodeTime(value: unknown, position: DecoderPosition): string | null {
  if (typeof value !== 'string') throw typeMismatch(position, describeJson(value), 'string');
  const time = canonicalTimestamp(value);
  if (time === undefined) {
    const layout = '2006-01-02T15:04:05Z07:00';
    const problem = `parsing time ${JSON.stringify(value)} as "${layout}": not a timestamp by RFC 3339`;
    throw new PodTypeError(position.path.join('.'), problem);
  }
  return time;
}

/** The zero time as Go prints it; metav1.Time encodes it as null. */
const ZERO = '0001-01-01T00:00:00Z';
const CANONICAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
const RFC3339 = /^(\d{4}-\d{2}-\d{2}T)(\d{1,2})(:\d{2}:\d{2})(?:[.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Normalizes an RFC 3339 timestamp like metav1.Time: UTC, whole seconds; `null` for the zero time.
 * Returns `undefined` for other texts. Like Go, accepts an hour with one digit.
 */
export function canonicalTimestamp(text: string): string | null | undefined {
  const [, date, hour, time, zone] = RFC3339.exec(text) ?? [];
  if (date === undefined || hour === undefined || time === undefined || zone === undefined) return undefined;
  const local = `${date}${hour.padStart(2, '0')}${time}Z`;
  const milliseconds = Date.parse(local);
  // Date.parse accepts 30 February and hour 24.
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
