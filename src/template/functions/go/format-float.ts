/** A decimal number: 0.DIGITS × 10^point. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

const zero: Decimal = { digits: '0', point: 1 };

/**
 * Go's strconv.FormatFloat for a float64.
 * @param verb `e`, `f`, `g`, `x` or `b`; `E`, `G` and `X` give upper-case output
 * @param precision the number of digits after the point (for `g`, of significant digits); -1 for
 * `g` and `x` means the fewest digits that identify the number
 */
export function formatFloat(value: number, verb: string, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const magnitude = Math.abs(value);
  switch (verb) {
    case 'b':
      return sign + formatBinary(magnitude);
    case 'x':
      return sign + formatHexadecimal(magnitude, precision);
    case 'X':
    case 'E':
    case 'G':
      return formatFloat(value, verb.toLowerCase(), precision).toUpperCase();
    case 'e':
      return sign + scientific(rounded(magnitude, 'significant', precision + 1), precision);
    case 'f':
      return sign + fixed(rounded(magnitude, 'fraction', precision), precision);
    default:
      return sign + general(magnitude, precision);
  }
}

/** Formats a float as `%v` does. */
export function formatFloatShortest(value: number): string {
  // JavaScript prints integers below a million in the same way.
  if (Number.isInteger(value) && value > -1e6 && value < 1e6 && !Object.is(value, -0)) return String(value);
  return formatFloat(value, 'g', -1);
}

/** Formats %g: in scientific notation for small and large exponents, else in fixed notation. */
function general(value: number, precision: number): string {
  const isShortest = precision < 0;
  const significant = precision === 0 ? 1 : precision;
  const { digits, point } = isShortest ? shortest(value) : rounded(value, 'significant', significant);
  const decimal = { digits: withoutTrailingZeros(digits, 1), point };
  const { length } = decimal.digits;
  const threshold = isShortest ? 6 : significant > length && length >= point ? length : significant;
  if (point - 1 < -4 || point - 1 >= threshold) return scientific(decimal, length - 1);
  return fixed(decimal, Math.max(length - point, 0));
}

function scientific({ digits, point }: Decimal, precision: number): string {
  const fraction = digits.slice(1).padEnd(precision, '0');
  const exponent = digits === '0' ? 0 : point - 1;
  return `${digits.charAt(0)}${fraction === '' ? '' : `.${fraction}`}e${signed(exponent, 2)}`;
}

function fixed({ digits, point }: Decimal, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits;
  return precision === 0 ? whole : `${whole}.${fraction.slice(0, precision).padEnd(precision, '0')}`;
}

/** Returns the fewest digits that identify the number, found by JavaScript's conversion. */
function shortest(value: number): Decimal {
  if (value === 0) return zero;
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** Returns all digits of the number, which is a fraction over a power of two. */
function exact(value: number): Decimal {
  const { mantissa, exponent } = parts(value);
  if (exponent >= 0) {
    const digits = (mantissa << BigInt(exponent)).toString();
    return { digits, point: digits.length };
  }
  const digits = (mantissa * 5n ** BigInt(-exponent)).toString();
  return { digits, point: digits.length + exponent };
}

/** Rounds half to even, to significant digits or to digits after the point. */
function rounded(value: number, unit: 'significant' | 'fraction', count: number): Decimal {
  if (value === 0) return zero;
  const { digits, point } = exact(value);
  const keep = unit === 'significant' ? count : point + count;
  if (keep >= digits.length) return { digits, point };
  if (keep < 0) return zero;
  const kept = digits.slice(0, keep);
  const next = digits.charCodeAt(keep) - 48;
  const isTie = next === 5 && /^0*$/.test(digits.slice(keep + 1));
  const up = isTie ? Number(kept.at(-1) ?? 0) % 2 === 1 : next >= 5;
  if (!up) return kept === '' ? zero : { digits: kept, point };
  const raised = (BigInt(kept === '' ? 0 : kept) + 1n).toString();
  if (raised.length === kept.length) return { digits: raised, point };
  return { digits: unit === 'significant' ? raised.slice(0, keep) : raised, point: point + 1 };
}

/** @param least the minimum number of digits to keep */
export function withoutTrailingZeros(digits: string, least = 0): string {
  let end = digits.length;
  while (end > least && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** Splits a number into mantissa × 2^exponent, with the implicit bit. */
function parts(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & ((1n << 52n) - 1n);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

function signed(exponent: number, width: number): string {
  return (exponent < 0 ? '-' : '+') + String(Math.abs(exponent)).padStart(width, '0');
}

function formatBinary(value: number): string {
  const { mantissa, exponent } = parts(value);
  return `${mantissa}p${signed(exponent, 1)}`;
}

/** Formats %x: 0x1.8p+01, with a normalised mantissa that is rounded half to even. */
function formatHexadecimal(value: number, precision: number): string {
  let { mantissa, exponent } = parts(value);
  if (mantissa === 0n) return `0x0${precision > 0 ? `.${'0'.repeat(precision)}` : ''}p+00`;
  const missingBits = 53 - mantissa.toString(2).length;
  mantissa <<= BigInt(missingBits);
  exponent += 52 - missingBits;
  if (precision >= 0 && precision < 13) {
    const drop = BigInt(52 - precision * 4);
    const lastBit = (mantissa >> drop) & 1n;
    // Half of the dropped unit rounds up only if the last kept bit is 1.
    mantissa = ((mantissa + (1n << (drop - 1n)) - 1n + lastBit) >> drop) << drop;
    if (mantissa >> 53n === 1n) exponent += 1;
  }
  const all = (mantissa & ((1n << 52n) - 1n)).toString(16).padStart(13, '0');
  const fraction = precision < 0 ? withoutTrailingZeros(all) : all.slice(0, precision).padEnd(precision, '0');
  return `0x1${fraction === '' ? '' : `.${fraction}`}p${signed(exponent, 2)}`;
}
