const nanosecond = 1n;
const second = 1_000_000_000n;
const minute = 60n * second;
const hour = 60n * minute;
const units: Readonly<Record<string, bigint>> = {
  ns: nanosecond,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: second,
  m: minute,
  h: hour,
};

/** Go's time.Duration.String: `1m30s`, `1.5ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (total < 1000n) return `${sign}${total}ns`;
  if (total < 1_000_000n) return `${sign}${decimal(total, 3)}µs`;
  if (total < second) return `${sign}${decimal(total, 6)}ms`;
  const hours = total >= hour ? `${total / hour}h` : '';
  const minutes = total >= minute ? `${(total % hour) / minute}m` : '';
  return `${sign}${hours}${minutes}${decimal(total % minute, 9)}s`;
}

/** value / 10^places, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = String(value % scale)
    .padStart(places, '0')
    .replace(/0+$/, '');
  return `${value / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Go's time.ParseDuration in nanoseconds; `undefined` when the text is none or does not fit 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const sign = text.startsWith('-') ? -1n : 1n;
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0n;
  if (!/^(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(
    /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const scale = units[unit] as bigint;
    total += BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  const limit = 2n ** 63n;
  return total > limit || (total === limit && sign > 0n) ? undefined : sign * total;
}
