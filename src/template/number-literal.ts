import { quoteString } from './quote.ts';
import { unquote } from './unquote.ts';
import { Complex } from './integer.ts';

/** A number in a template: every kind of value that it can stand for. */
export interface NumberLiteral {
  /** As int64, when it is integral and fits. `1e3` is; so is `'a'`. */
  readonly integer: bigint | undefined;
  /** As uint64, when it is integral and fits. */
  readonly unsigned: bigint | undefined;
  readonly float: number | undefined;
  readonly complex: Complex | undefined;
}

/** Go has no bound here; nothing that is meant has so many digits, and what reads them takes longer than they are long. */
const longestLiteral = 1000;

const integerForm =
  /^([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]((?:_?[0-7])+)|0((?:_?[0-7])+)|(0|[1-9](?:_?[0-9])*))$/;
const decimalForm =
  /^[+-]?(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/;
const hexadecimalForm =
  /^([+-]?)0[xX](?=_?[0-9a-fA-F]|\.[0-9a-fA-F])((?:_?[0-9a-fA-F])*)(?:\.((?:[0-9a-fA-F](?:_?[0-9a-fA-F])*)?))?[pP]([+-]?[0-9](?:_?[0-9])*)$/;
const complexForm = /^(.*[0-9.])([+-].*)i$/;
const bits64 = 2n ** 64n;
const bits63 = 2n ** 63n;

/**
 * Parses a rune constant.
 *
 * @returns The literal, or what is wrong with it.
 */
export function parseRune(text: string): NumberLiteral | string {
  const character = unquote(text);
  const code = character?.codePointAt(0);
  if (character === undefined) return 'invalid syntax';
  if (code === undefined || String.fromCodePoint(code) !== character) return `malformed character constant: ${text}`;
  return { integer: BigInt(code), unsigned: BigInt(code), float: code, complex: undefined };
}

/**
 * Parses a number constant: integers in any base, floats, imaginary and complex numbers.
 *
 * @returns The literal, or what is wrong with it.
 */
export function parseNumber(text: string): NumberLiteral | string {
  if (text.length > longestLiteral) return `number constant of more than ${longestLiteral} characters`;
  if (text.endsWith('i')) return parseComplex(text) ?? `illegal number syntax: ${quoteString(text)}`;
  const value = parseInteger(text);
  const integer = value !== undefined && value >= -bits63 && value < bits63 ? value : undefined;
  const unsigned =
    value !== undefined && value >= 0n && value < bits64 && !/^[+-]/.test(value === 0n ? '' : text) ? value : undefined;
  const exact = integer ?? unsigned;
  if (exact !== undefined) return { integer, unsigned, float: Number(exact), complex: undefined };
  const float = parseFloat64(text);
  if (float === undefined) return `illegal number syntax: ${quoteString(text)}`;
  if (!/[.eEpP]/.test(text)) return `integer overflow: ${quoteString(text)}`;
  return { ...integersOf(float), float, complex: undefined };
}

/** Go's strconv.ParseInt(text, 0, …) without a limit of size; `undefined` when it is not an integer literal. */
export function parseInteger(text: string): bigint | undefined {
  const match = integerForm.exec(text);
  if (match === null) return undefined;
  const [, sign, hexadecimal, binary, octal, legacyOctal, decimal] = match;
  const old = octal ?? legacyOctal;
  const digits =
    hexadecimal !== undefined
      ? `0x${hexadecimal}`
      : binary !== undefined
        ? `0b${binary}`
        : old !== undefined
          ? `0o${old}`
          : String(decimal);
  const value = BigInt(digits.replaceAll('_', ''));
  return sign === '-' ? -value : value;
}

/** A float literal's value; `undefined` when it is none, or out of range. */
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
  // In two steps, since the power alone may be too large or too small.
  const value = mantissa === 0 ? 0 : mantissa * 2 ** Math.trunc(power / 2) * 2 ** (power - Math.trunc(power / 2));
  return sign === '-' ? -value : value;
}

function parseComplex(text: string): NumberLiteral | undefined {
  const pair = complexForm.exec(text);
  // An exponent's sign separates nothing: 1e+2i is imaginary.
  const split = pair !== null && !/[eEpP]$/.test(String(pair[1])) ? pair : undefined;
  const real = split === undefined ? 0 : parsePart(String(split[1]));
  const imaginary = parsePart(split === undefined ? text.slice(0, -1) : String(split[2]));
  if (real === undefined || imaginary === undefined) return undefined;
  const complex = new Complex(real, imaginary);
  return imaginary === 0
    ? { ...integersOf(real), float: real, complex }
    : { integer: undefined, unsigned: undefined, float: undefined, complex };
}

function parsePart(text: string): number | undefined {
  return parseFloat64(text);
}

/** The integers that a float is equal to. */
function integersOf(float: number): Pick<NumberLiteral, 'integer' | 'unsigned'> {
  const value = Number.isInteger(float) ? BigInt(float) : undefined;
  return {
    integer: value !== undefined && value >= -bits63 && value < bits63 ? value : undefined,
    unsigned: value !== undefined && value >= 0n && value < bits64 ? value : undefined,
  };
}
