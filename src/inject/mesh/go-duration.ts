import { parseDuration } from '../../template/go-duration.ts';

/** A google.protobuf.Duration: both parts have the same sign. */
export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

const second = 1_000_000_000n;

/** Sound parts, and then the number and the unit that are not. */
const firstBadPart = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)([^\d.]*)/;

/**
 * Reads a duration as Go's time.ParseDuration does (`1h30m`, `1.5s`, `-10ms`).
 * @throws Error with Go's message
 */
export function parseGoDuration(text: string): Duration {
  const nanoseconds = parseDuration(text);
  if (nanoseconds !== undefined) return { seconds: nanoseconds / second, nanos: Number(nanoseconds % second) };
  const quoted = JSON.stringify(text);
  const unit = firstBadPart.exec(text)?.[1];
  if (unit === '') throw new Error(`time: missing unit in duration ${quoted}`);
  if (unit === undefined || /^(?:ns|us|µs|μs|ms|s|m|h)$/.test(unit))
    throw new Error(`time: invalid duration ${quoted}`);
  throw new Error(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
}

/** As protobuf JSON writes it: `45s`, `1.500s`, with 0, 3, 6 or 9 digits of fraction. */
export function formatDuration({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? '-' : '';
  const whole = (seconds < 0n ? -seconds : seconds).toString();
  const fraction = Math.abs(nanos)
    .toString()
    .padStart(9, '0')
    .replace(/(000){1,3}$/, '');
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}s`;
}
