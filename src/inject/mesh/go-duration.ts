import { parseDuration } from '../../template/go-duration.ts';

/** A google.protobuf.Duration; both parts have the same sign. */
export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

const second = 1_000_000_000n;

/** The maximum length of a duration, in characters. */
const longestDuration = 100;

/** Parses like Go's time.ParseDuration. @throws Error with Go's message, or for a long text */
export function parseGoDuration(text: string): Duration {
  if (text.length > longestDuration)
    throw new Error(`a duration has at most ${longestDuration} characters, this one has ${text.length}`);
  const nanoseconds = parseDuration(text);
  return { seconds: nanoseconds / second, nanos: Number(nanoseconds % second) };
}

/** Formats as protobuf JSON: `45s`, `1.500s`, with 0, 3, 6 or 9 fraction digits. */
export function formatProtoDuration({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? '-' : '';
  const whole = (seconds < 0n ? -seconds : seconds).toString();
  let fraction = Math.abs(nanos).toString().padStart(9, '0');
  while (fraction.endsWith('000')) fraction = fraction.slice(0, -3);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}s`;
}
