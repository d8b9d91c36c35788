import { quoteString } from '../quote.ts';
import { unquote } from './unquote.ts';
import { Complex, readDigits } from '../integer.ts';

/** A number in a template: its value in every type that the number can have. */
export interface NumberLiteral {
  /** The int64 value, if the number is integral and fits; includes `1e3` and `'a'`. */
  readonly integer: bigint | undefined;
  readonly float: number | undefined;
  readonly complex: Complex | undefined;
}

/** The maximum length in characters. Go has no maximum, but parsing long literals is not linear. */
const longestLiteral = 1000;

const integerForm =
  /^([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]((?:_?[0-7])+)|0((?:_?[0-7])+)|(0|[1-9](?:_?[0-9])*))$/;
const decimalForm =
  /^[+-]?(?:[0-9](?:_?[0-9])*(?:\.(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/;
const hexadecimalForm =
  /^([+-]?)0[xX](?=_?[0-9a-fA-F]|\.[0-9a-fA-F])((?:_?[0-9a-fA-F])*)(?:\.((?:[0-9a-fA-F](?:_?[0-9a-fA-F])*)?))?[pP]([+-]?[0-9](?:_?[0-9])*)$/;

/** Parses a rune constant. @returns the literal, or the reason for the failure */
export function parseRune(text: string): NumberLiteral | string {
  const character = unquote(text);
  const code = character?.codePointAt(0);
  if (character === undefined) return 'invalid syntax';
  if (code === undefined || String.fromCodePoint(code) !== character) return `malformed character constant: ${text}`;
  return { integer: BigInt(code), float: code, complex: undefined };
}

/** Parses integers, floats, imaginary and complex numbers. @returns the literal, or an error */
export function parseNumber(text: string): NumberLiteral | string {
  if (text.length > longestLiteral) return `number constant of more than ${longestLiteral} characters`;
  if (text.endsWith('i')) return parseComplex(text) ?? `illegal number syntax: ${quoteString(text)}`;
  const value = parseInteger(text);
  const integer = value === undefined ? undefined : int64Of(value);
  const isUnsigned = value !== undefined && value >= 0n && value < 2n ** 64n && !/^[+-]/.test(text);
  if (integer !== undefined || isUnsigned) return { integer, float: Number(value), complex: undefined };
  const float = parseFloat64(text);
  if (float === undefined) return `illegal number syntax: ${quoteString(text)}`;
  if (!/[.eEpP]/.test(text)) return `integer overflow: ${quoteString(text)}`;
  return { integer: integerOf(float), float, complex: undefined };
}

/** Go's strconv.ParseInt(text, 0, …) without its range check; `undefined` for invalid literals. */
export function parseInteger(text: string): bigint | undefined {
  const match = integerForm.exec(text);
  if (match === null) return undefined;
  const [, sign, hexadecimal, binary, octal, legacyOctal, decimal] = match;
  const old = octal ?? legacyOctal;
  const prefix = hexadecimal !== undefined ? '0x' : binary !== undefined ? '0b' : old !== undefined ? '0o' : '';
  const digits = String(hexadecimal ?? binary ?? old ?? decimal).replaceAll('_', '');
  const value = prefix === '' ? readDigits(digits) : BigInt(prefix + digits);
  return sign === '-' ? -value : value;
}

/** Parses a float literal; returns `undefined` if it is invalid or out of range. */
export function parseFloat64(text: string): number | undefined {
  const value = decimalForm.test(text) ? Number(text.replaceAll('_', '')) : parseHexadecimalFloat(text);
  return value === undefined || Number.isFinite(value) ? value : undefined;
}

function parseHexadecimalFloat(text: string): number | undefined {
  const match = hexadecimalForm.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = ''] = match.map((part: string | undefined) =>
    part?.replaceAll('_', ''),
  );
  const mantissa = Number(BigInt(`0x0${whole}${fraction}`));
  const power = Number(exponent) - 4 * fraction.length;
  // Two steps, since the power alone may overflow or underflow.
  const value = mantissa === 0 ? 0 : mantissa * 2 ** Math.trunc(power / 2) * 2 ** (power - Math.trunc(power / 2));
  return sign === '-' ? -value : value;
}

function parseComplex(text: string): NumberLiteral | undefined {
  const split = startOfImaginary(text);
  const real = split === 0 ? 0 : parseFloat64(text.slice(0, split));
  const imaginary = parseFloat64(text.slice(split, -1));
  if (real === undefined || imaginary === undefined) return undefined;
  const complex = new Complex(real, imaginary);
  if (imaginary !== 0) return { integer: undefined, float: undefined, complex };
  return { integer: integerOf(real), float: real, complex };
}

/** Returns the start of the imaginary part: the last sign after a digit or point. */
function startOfImaginary(text: string): number {
  for (let at = text.length - 2; at > 0; at -= 1) {
    if ((text[at] === '+' || text[at] === '-') && /[0-9.]/.test(text.charAt(at - 1))) return at;
  }
  return 0;
}

/** Returns the integer that a float equals. */
function integerOf(float: number): bigint | undefined {
  return Number.isInteger(float) ? int64Of(BigInt(float)) : undefined;
}

/** Returns the integer if it fits 64 bits. */
function int64Of(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
