import { isAscii, runes } from '../../go-string.ts';
import { formatFloat } from './format-float.ts';
import { isPrintable } from '../../quote.ts';

/** Flags, width and precision of one verb of a format (fmt's documentation, "Printing"). */
export type Flags = typeof noFlags;

export const noFlags = {
  sharp: false,
  zero: false,
  plus: false,
  minus: false,
  space: false,
  /** Set instead of `plus` and `sharp` for %+v and %#v. */
  plusV: false,
  sharpV: false,
  width: undefined as number | undefined,
  precision: undefined as number | undefined,
};

/** Pads to the width in characters: with spaces, or with zeros on the left. */
export function pad(flags: Flags, text: string, zero = flags.zero): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - (isAscii(text) ? text.length : runes(text).length);
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}

function signOf({ plus, space }: Flags, negative: boolean): string {
  if (negative) return '-';
  if (plus) return '+';
  return space ? ' ' : '';
}

/** Formats an integer with sign, prefix, precision and padding. Only `O` and `X` need `verb`. */
export function formatInteger(flags: Flags, value: bigint, base: 2 | 8 | 10 | 16, verb: string): string {
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  const sign = signOf(flags, negative);
  if (flags.precision !== undefined) {
    if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
    digits = digits.padStart(flags.precision, '0');
  } else if (flags.zero && !flags.minus && flags.width !== undefined) {
    digits = digits.padStart(flags.width - sign.length, '0');
  }
  if (flags.sharp && base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
  else if (flags.sharp && base !== 10 && base !== 8) digits = (base === 2 ? '0b' : '0x') + digits;
  if (verb === 'O') digits = `0o${digits}`;
  if (verb === 'X') digits = digits.toUpperCase();
  return pad(flags, sign + digits, false);
}

/** Formats %U as U+0041, followed by the character if # is set. */
export function formatUnicode(flags: Flags, value: bigint): string {
  const shortest = value.toString(16).toUpperCase();
  const digits = shortest.padStart(Math.max(flags.precision ?? 4, 4), '0');
  const character =
    value <= 0x10ffffn && !(value >= 0xd800n && value < 0xe000n) ? String.fromCodePoint(Number(value)) : '';
  return pad(flags, `U+${digits}${flags.sharp && isPrintable(character) ? ` '${character}'` : ''}`, false);
}

/** Formats a float as strconv does. @param precision the verb's default; -1 for the shortest */
export function formatFloatVerb(flags: Flags, value: number, verb: string, precision: number): string {
  const digits = flags.precision ?? precision;
  const text = formatFloat(value, verb, digits);
  let body = /^[+-]/.test(text) ? text.slice(1) : text;
  const sign = signOf(flags, text.startsWith('-'));
  if (!Number.isFinite(value)) return pad(flags, (Number.isNaN(value) || sign !== '' ? sign : '+') + body, false);
  if (flags.sharp && verb !== 'b') body = restorePoint(body, verb, digits);
  const { width } = flags;
  if (sign !== '' && flags.zero && !flags.minus && width !== undefined) return sign + body.padStart(width - 1, '0');
  return pad(flags, sign + body);
}

/** Applies the # flag: always writes a decimal point, and keeps trailing zeros for %g. */
function restorePoint(text: string, verb: string, precision: number): string {
  const end = text.search(/[xX]/.test(verb) ? /[pP]|$/ : /[epEP]|$/);
  const number = text.slice(0, end);
  const tail = text.slice(end);
  // fmt keeps no zeros for %#X.
  let missing = /[gGx]/.test(verb) ? (precision === -1 ? 6 : precision) : 0;
  missing -= number.replace('.', '').replace(/^0+/, '').length;
  if (number.includes('.')) return number + '0'.repeat(Math.max(missing, 0)) + tail;
  if (number === '0') missing -= 1;
  return `${number}.${'0'.repeat(Math.max(missing, 0))}${tail}`;
}
