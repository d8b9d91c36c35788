import { formatDuration, parseDuration } from '../../go-duration.ts';
import { goFunction, type FunctionTable } from '../go/go-function.ts';
import { Integer } from '../../integer.ts';
import { orElse } from '../../exec/meter.ts';
import { any } from '../../exec/parameters.ts';
import { atoi } from './number-value.ts';

/** The units that sprig rounds to, largest first, in seconds. */
const roundUnits: readonly (readonly [string, bigint])[] = [
  ['y', 365n * 24n * 3600n],
  ['mo', 30n * 24n * 3600n],
  ['d', 24n * 3600n],
  ['h', 3600n],
  ['m', 60n],
  ['s', 1n],
];

function int64Of(value: unknown): bigint {
  return value instanceof Integer && value.kind === 'int64' ? value.value : 0n;
}

/** Seconds as a string or int64; anything else is 0. */
function duration(value: unknown): string {
  const seconds = typeof value === 'string' ? atoi(value) : int64Of(value);
  return formatDuration(BigInt.asIntN(64, seconds * 1_000_000_000n));
}

/** A duration as a string, or nanoseconds as an int64, in its largest unit. */
function durationRound(value: unknown): string {
  const nanoseconds = typeof value === 'string' ? orElse(() => parseDuration(value), 0n) : int64Of(value);
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  for (const [name, seconds] of roundUnits) {
    const unit = seconds * 1_000_000_000n;
    if (magnitude > unit) return `${magnitude / unit}${name}`;
  }
  return '0s';
}

/** sprig's functions on time that do not depend on the time of day. */
export const durationFunctions: FunctionTable = {
  duration: goFunction([any], duration),
  durationRound: goFunction([any], durationRound, { weight: 24 }),
};
