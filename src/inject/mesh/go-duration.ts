import { parseDuration } from '../../template/go-duration.ts';

/** A google.protobuf.Duration: both parts have the same sign. */
export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

const second = 1_000_000_000n;

/** More than any duration needs; a longer text is not read. */
const longestDuration = 100;

/** Reads a duration as Go's time.ParseDuration does (`1h30m`, `-10ms`). @throws Error with Go's message, or of its length */
export function parseGoDuration(text: string): Duration {
  if (text.length > longestDuration)
    throw new Error(`a duration has at most ${longestDuration} characters, this one has ${text.length}`);
  const nanoseconds = parseDuration(text);
  return { seconds: nanoseconds / second, nanos: Number(nanoseconds % second) };
}

/** As protobuf JSON writes it: `45s`, `1.500s`, with 0, 3, 6 or 9 digits of fraction. */
export function formatDuration({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? '-' : '';
  const whole = (seconds < 0n ? -seconds : seconds).toString();
  let fraction = Math.abs(nanos).toString().padStart(9, '0');
  while (fraction.endsWith('000')) fraction = fraction.slice(0, -3);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}s`;
}
