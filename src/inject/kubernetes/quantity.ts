/** An invalid quantity, with the message of k8s.io/apimachinery. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

type Format = 'DecimalSI' | 'DecimalExponent' | 'BinarySI';

/** The number digits × 10^exponent and its notation. The digits include the sign. */
interface Quantity {
  digits: bigint;
  exponent: number;
  format: Format;
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';
const WRONG_SUFFIX = "unable to parse quantity's suffix";

/** Go's syntax, which is looser than the expression in Go's message: no number means zero. */
const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[+-]?\d*|[+-]\d*)?)$/;
/** Short texts that Go does not change. */
const PLAIN_DECIMAL = /^[1-9]\d{0,14}[numkMGTPE]?$/;
/** Amounts below 1024 of a unit, which are canonical. */
const PLAIN_BINARY = /^[1-9]\d{0,2}[KMGTP]i$/;

/** The exponent of the highest precision, a billionth. */
const NANO = -9;
/** The decimal suffixes from a billionth on, in steps of a thousand. */
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const DECIMAL_EXPONENTS = new Map(DECIMAL_SUFFIXES.map((suffix, index) => [suffix, NANO + 3 * index]));
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const LARGEST = 2n ** 63n - 1n;
const INT64_DIGITS = 18;
/** The maximum length of a quantity, in characters; limits the cost of arithmetic. */
const LONGEST = 1000;

/**
 * Normalizes a quantity like resource.Quantity: `1000m` → `1`, `0.5` → `500m`, `1024Mi` → `1Gi`,
 * `1.5Gi` → `1536Mi`. Rounds up to billionths. Like Go, keeps texts such as `+5`, `1.234` or `1e3`.
 * @throws QuantityError with the message of Kubernetes
 */
export function canonicalQuantity(text: string): string {
  if (PLAIN_BINARY.test(text) || (PLAIN_DECIMAL.test(text) && !/000[a-zA-Z]?$/.test(text))) return text;
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > LONGEST) throw new QuantityError(WRONG_FORMAT);
  const [, sign, whole, fraction = '', suffix] = SYNTAX.exec(trimmed) ?? [];
  if (sign === undefined || whole === undefined || suffix === undefined) throw new QuantityError(WRONG_FORMAT);
  const number = { sign, whole: whole.replace(/^0+/, '') || '0', fraction, suffix, text: trimmed };
  return suffix.endsWith('i') ? canonicalBinary(number) : canonicalDecimal(number);
}

interface NumberText {
  sign: string;
  whole: string;
  fraction: string;
  suffix: string;
  text: string;
}

function canonicalDecimal({ sign, whole, fraction, suffix, text }: NumberText): string {
  const { exponent, format } = decimalSuffix(suffix);
  const digits = whole + fraction;
  const scale = exponent - fraction.length;
  const short = digits.length <= INT64_DIGITS && scale >= NANO;
  if (short && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')) return text;
  if (!short) requireDigits(text);
  return print(roundUp({ digits: signed(sign, BigInt(digits)), exponent: scale, format }));
}

function canonicalBinary({ sign, whole, fraction, suffix, text }: NumberText): string {
  const power = BINARY_SUFFIXES.indexOf(suffix);
  if (power < 0) throw new QuantityError(WRONG_SUFFIX);
  // Go's limit for 64-bit arithmetic: a factor of 1024 adds about three decimal digits.
  const short = fraction === '' && 14 - whole.length - 3 * power >= 0;
  if (short && (BigInt(whole) & 7n) !== 0n) return text;
  if (!short) requireDigits(text);
  const amount = roundUp({
    digits: BigInt(whole + fraction) * 1024n ** BigInt(power),
    exponent: -fraction.length,
    format: 'BinarySI',
  });
  const capped = amount.digits > LARGEST * unitOf(amount) ? { ...amount, digits: LARGEST, exponent: 0 } : amount;
  return print({ ...capped, digits: signed(sign, capped.digits) });
}

/** Requires digits. Go requires them only for numbers beyond 64-bit arithmetic. */
function requireDigits(text: string): void {
  if (!/^[+-]?\.?\d/.test(text)) throw new QuantityError(WRONG_NUMBER);
}

function signed(sign: string, digits: bigint): bigint {
  return sign === '-' ? -digits : digits;
}

function decimalSuffix(suffix: string): { exponent: number; format: Format } {
  const exponent = DECIMAL_EXPONENTS.get(suffix);
  if (exponent !== undefined) return { exponent, format: 'DecimalSI' };
  const [, written] = /^[eE]([+-]?\d+)$/.exec(suffix) ?? [];
  if (written === undefined || BigInt.asIntN(64, BigInt(written)) !== BigInt(written)) {
    throw new QuantityError(WRONG_SUFFIX);
  }
  return { exponent: Number(BigInt.asIntN(32, BigInt(written))), format: 'DecimalExponent' };
}

/** Rounds away from zero to billionths. */
function roundUp(quantity: Quantity): Quantity {
  const surplus = NANO - quantity.exponent;
  if (surplus <= 0 || quantity.digits === 0n) return quantity;
  const sign = quantity.digits < 0n ? -1n : 1n;
  const magnitude = quantity.digits * sign;
  // If more digits are dropped than exist, the smallest amount remains.
  const unit = 10n ** BigInt(Math.min(surplus, magnitude.toString().length));
  return { ...quantity, digits: sign * ((magnitude + unit - 1n) / unit), exponent: NANO };
}

/** Prints with the largest suffix that needs no fraction. */
function print(quantity: Quantity): string {
  const { digits, exponent, format } = quantity;
  if (digits === 0n) return '0';
  if (format !== 'BinarySI') return printDecimal(quantity);
  const unit = unitOf(quantity);
  const isSmall = (digits < 0n ? -digits : digits) < 1024n * unit;
  if (isSmall || digits % unit !== 0n) return printDecimal({ digits, exponent, format: 'DecimalSI' });
  return printBinary(digits / unit);
}

/** Returns the number 1 in units of the last digit. The exponent must not be positive. */
function unitOf({ exponent }: Quantity): bigint {
  return 10n ** BigInt(-exponent);
}

function printDecimal(quantity: Quantity): string {
  let { digits, exponent } = quantity;
  while (digits % 10n === 0n) {
    digits /= 10n;
    exponent += 1;
  }
  const excess = ((exponent % 3) + 3) % 3;
  digits *= 10n ** BigInt(excess);
  exponent -= excess;
  if (quantity.format === 'DecimalExponent')
    return exponent === 0 ? digits.toString() : `${digits.toString()}e${exponent}`;
  // Above 10^18 Go prints no suffix.
  return `${digits.toString()}${DECIMAL_SUFFIXES[(exponent - NANO) / 3] ?? ''}`;
}

function printBinary(value: bigint): string {
  let digits = value;
  let power = 0;
  while (digits % 1024n === 0n) {
    digits /= 1024n;
    power += 1;
  }
  return `${digits.toString()}${BINARY_SUFFIXES[power] ?? ''}`;
}

/** Returns the value of a quantity; `undefined` if the text is not a quantity. */
export function amountOf(text: string): number | undefined {
  const [, number = '', suffix = ''] = /^([-+\d.]+)(.*)$/s.exec(text.trim()) ?? [];
  const power = BINARY_SUFFIXES.indexOf(suffix);
  const exponent = DECIMAL_EXPONENTS.get(suffix);
  const decimal = `${number}${exponent === undefined ? suffix : `e${exponent}`}`;
  const value = power > 0 ? Number(number) * 1024 ** power : Number(decimal);
  return number === '' || Number.isNaN(value) ? undefined : value;
}
