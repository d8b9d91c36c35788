/** A google.protobuf.Duration: both parts have the same sign. */
export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

const second = 1_000_000_000n;
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};
const maximum = (1n << 63n) - 1n;

/**
 * Reads a duration as Go's time.ParseDuration does (`1h30m`, `1.5s`, `-10ms`).
 * @throws Error with Go's message
 */
export function parseGoDuration(text: string): Duration {
  const quoted = JSON.stringify(text);
  const negative = text.startsWith('-');
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return { seconds: 0n, nanos: 0 };
  if (rest === '') throw new Error(`time: invalid duration ${quoted}`);
  let total = 0n;
  while (rest !== '') {
    const [, whole = '', fraction = '', unit = ''] = /^(\d*)(?:\.(\d*))?([^\d.]*)/.exec(rest) ?? [];
    const consumed = /^\d*(?:\.\d*)?/.exec(rest)?.[0] ?? '';
    if (whole === '' && fraction === '') throw new Error(`time: invalid duration ${quoted}`);
    if (unit === '') throw new Error(`time: missing unit in duration ${quoted}`);
    const scale = Object.hasOwn(units, unit) ? units[unit] : undefined;
    if (scale === undefined) throw new Error(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
    total +=
      BigInt(whole === '' ? '0' : whole) * scale +
      (BigInt(fraction === '' ? '0' : fraction) * scale) / 10n ** BigInt(fraction.length);
    if (total > maximum) throw new Error(`time: invalid duration ${quoted}`);
    rest = rest.slice(consumed.length + unit.length);
  }
  const nanoseconds = negative ? -total : total;
  return { seconds: nanoseconds / second, nanos: Number(nanoseconds % second) };
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
