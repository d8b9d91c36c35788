import { Buffer } from 'node:buffer';

/**
 * A scalar that means different things as a key and as a value: null, a float, or the merge key.
 * It remains an object until its position is known.
 */
export class PositionDependent {
  readonly value: unknown;
  readonly key: string;

  constructor(value: unknown, key: string) {
    this.value = value;
    this.key = key;
  }

  toString(): string {
    return this.key;
  }
}

/** A character that occurs in no text: YAML forbids control characters, except as escapes. */
const MARK = '\u0000';
export const UNSUPPORTED_KEY = `${MARK}unsupported`;
export const MERGE_KEY = `${MARK}<<`;

const NULL = new PositionDependent(null, UNSUPPORTED_KEY);

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...words(true, ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']),
  ...words(false, ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']),
  ...words(NULL, ['', '~', 'null', 'Null', 'NULL']),
  ...words(float(Infinity), ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF']),
  ...words(float(-Infinity), ['-.inf', '-.Inf', '-.INF']),
  ...words(float(NaN), ['.nan', '.NaN', '.NAN']),
]);

function words(value: unknown, spellings: readonly string[]): [string, unknown][] {
  return spellings.map((spelling) => [spelling, value]);
}

/** The first characters of scalars that may not be strings. */
const HINTS = /^[-+0-9.yYnNtTfFoO~<]/;
const NUMBER_HINTS = /^[-+.\d]/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const INTEGER = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const MISPLACED_UNDERSCORE = /(?<!\d)_|_(?!\d)/;
const LARGEST = 2n ** 64n - 1n;
const SMALLEST = -(2n ** 63n);

/** The number of `<<` so far, which makes the key of each merge unique. */
let merges = 0;

/** Returns the value of a scalar; undefined if it is not of the kind that its tag names. */
export function scalarValue(text: string, tag: string, isPlain: boolean): unknown {
  // Go takes each of these keys for a merge.
  if (tag === '!' && text === '<<') return resolvePlain(text);
  if (tag === '') return isPlain ? (resolvePlain(text) ?? text) : text;
  const kind = /^tag:yaml\.org,2002:(.*)/s.exec(tag)?.[1] ?? '';
  if (kind === 'binary') return BASE64.test(text) ? Buffer.from(text, 'base64').toString('utf8') : undefined;
  const isOfKind = KINDS.get(kind);
  if (isOfKind === undefined) return text;
  const value = resolvePlain(text) ?? text;
  return isOfKind(value instanceof PositionDependent ? value.value : value) ? value : undefined;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** The tags that Go checks; it ignores others. */
const KINDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['int', Number.isInteger],
  ['float', (value) => typeof value === 'number'],
  ['bool', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['merge', (value) => value === '<<'],
  ['timestamp', (value) => typeof value === 'string' && /^\d{4}-\d{1,2}-\d{1,2}/.test(value)],
]);

/** Resolves a plain scalar by yaml.v2's rules of YAML 1.1; `undefined` for a string. */
export function resolvePlain(text: string): unknown {
  if (text !== '' && !HINTS.test(text)) return undefined;
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text === '<<') {
    merges += 1;
    return new PositionDependent(text, `${MERGE_KEY}${merges}`);
  }
  return NUMBER_HINTS.test(text) ? resolveNumber(text) : undefined;
}

/** Parses a number. Ignores underscores; after a leading dot, only underscores between digits. */
function resolveNumber(text: string): unknown {
  if (text.startsWith('.')) return MISPLACED_UNDERSCORE.test(text) ? undefined : readFloat(text.replaceAll('_', ''));
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  const [, sign, digits] = INTEGER.exec(plain) ?? [];
  const integer = sign === undefined || digits === undefined ? undefined : readInteger(sign, digits);
  return integer ?? readFloat(plain);
}

function readFloat(text: string): PositionDependent | undefined {
  const value = FLOAT.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? float(value) : undefined;
}

/** Returns `undefined` beyond 64 bits. A key keeps all digits and may not be an unsigned type. */
function readInteger(sign: string, digits: string): number | PositionDependent | undefined {
  const negative = sign === '-';
  if (digits.length < 16 && !digits.startsWith('0')) return negative ? -Number(digits) : Number(digits);
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const value = negative ? -magnitude : magnitude;
  if (value > LARGEST || value < SMALLEST) return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return new PositionDependent(number, value > -SMALLEST - 1n ? UNSUPPORTED_KEY : value.toString());
}

function float(value: number): PositionDependent {
  return new PositionDependent(value, floatKey(value));
}

/** Formats a float key like sigs.k8s.io/yaml: in single precision, in Go's format %g. */
function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  if (single === 0) return Object.is(single, -0) ? '-0' : '0';
  // Find the fewest digits that identify the number in single precision.
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toExponential(digits - 1))) !== single) digits += 1;
  const [mantissa = '', power = '0'] = single.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  // Go's shortest %g uses an exponent of at least two digits below -4 or from 6 on.
  if (exponent >= -4 && exponent < 6) return Number(`${mantissa}e${power}`).toFixed(Math.max(0, digits - 1 - exponent));
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent).toString().padStart(2, '0')}`;
}
