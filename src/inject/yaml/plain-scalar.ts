/**
 * A scalar that its place gives a second meaning: null, a float, and the merge key. As a key of an object it is not what it is as a value, and
 * js-yaml does not say which of the two it reads: it turns keys into strings. So these scalars are objects until the document is finished.
 */
export class PlaceDependent {
  readonly value: unknown;
  readonly key: string;

  constructor(value: unknown, key: string) {
    this.value = value;
    this.key = key;
  }

  /** Called for a key: the name of the member in the unfinished object. */
  toString(): string {
    return this.key;
  }

  /** js-yaml does not ask plain objects for their text. */
  get [Symbol.toStringTag](): string {
    return 'PlaceDependent';
  }
}

/** No text of a document has it: YAML forbids control characters. Only an escape in double quotes could spell it. */
const MARK = '\u0000';
export const UNSUPPORTED_KEY = `${MARK}unsupported`;
export const MERGE_KEY = `${MARK}<<`;

const NULL = new PlaceDependent(null, UNSUPPORTED_KEY);

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

/** The first characters of everything that is not simply a string: other texts are not looked at any further. */
const HINTS = /^[-+0-9.yYnNtTfFoO~<]/;
const NUMBER_HINTS = /^[-+.\d]/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const INTEGER = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const MISPLACED_UNDERSCORE = /(?<!\d)_|_(?!\d)/;
const LARGEST = 2n ** 64n - 1n;
const SMALLEST = -(2n ** 63n);

/** The number of `<<` so far: an object may have several, and each must have a name of its own. */
let merges = 0;

/** What a plain scalar stands for by the rules of YAML 1.1, as Go's yaml.v2 has them; `undefined` when it is just a string. */
export function resolvePlain(text: string): unknown {
  if (text !== '' && !HINTS.test(text)) return undefined;
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text === '<<') {
    merges += 1;
    return new PlaceDependent(text, `${MERGE_KEY}${merges}`);
  }
  return NUMBER_HINTS.test(text) ? resolveNumber(text) : undefined;
}

/** Underscores may stand anywhere in a number; in one that begins with a dot, only between digits. */
function resolveNumber(text: string): unknown {
  if (text.startsWith('.')) return MISPLACED_UNDERSCORE.test(text) ? undefined : readFloat(text.replaceAll('_', ''));
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  const [, sign, digits] = INTEGER.exec(plain) ?? [];
  const integer = sign === undefined || digits === undefined ? undefined : readInteger(sign, digits);
  return integer ?? readFloat(plain);
}

function readFloat(text: string): PlaceDependent | undefined {
  const value = FLOAT.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? float(value) : undefined;
}

/** `undefined` when it does not fit into 64 bits. A key keeps the digits that a number of JavaScript loses; one of more than 63 bits is refused. */
function readInteger(sign: string, digits: string): number | PlaceDependent | undefined {
  const negative = sign === '-';
  if (digits.length < 16 && !digits.startsWith('0')) return negative ? -Number(digits) : Number(digits);
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const value = negative ? -magnitude : magnitude;
  if (value > LARGEST || value < SMALLEST) return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return new PlaceDependent(number, value > -SMALLEST - 1n ? UNSUPPORTED_KEY : value.toString());
}

function float(value: number): PlaceDependent {
  return new PlaceDependent(value, floatKey(value));
}

/** A float as the key of an object: sigs.k8s.io/yaml prints it in single precision, by Go's format %g. */
function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  if (single === 0) return Object.is(single, -0) ? '-0' : '0';
  // The fewest digits that read back as the same number in single precision.
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toExponential(digits - 1))) !== single) digits += 1;
  const [mantissa = '', power = '0'] = single.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  // Go's shortest %g: an exponent below -4 or from 6 on is written as one, of two digits at least.
  if (exponent >= -4 && exponent < 6) return Number(`${mantissa}e${power}`).toFixed(Math.max(0, digits - 1 - exponent));
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent).toString().padStart(2, '0')}`;
}
