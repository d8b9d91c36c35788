export interface HostileText {
  readonly name: string;
  /** @param bytes the approximate size of the text in JSON */
  readonly make: (bytes: number) => string;
}

/** Returns the size in JSON as Go writes it. Go escapes more characters than JavaScript. */
function bytesInJson(text: string): number {
  const json = JSON.stringify(text);
  return Buffer.byteLength(json) - 2 + 5 * (json.match(/[<>&]/g)?.length ?? 0);
}

function many(unit: string, bytes: number): string {
  return unit.repeat(Math.max(1, Math.floor(bytes / bytesInJson(unit))));
}

/** Returns numbered units between a beginning and an end. */
function numbered(unit: (index: number) => string, bytes: number, [first, last] = ['', '']): string {
  const parts: string[] = [];
  for (let index = 0, length = 0; length < bytes; index++) {
    const part = unit(index);
    length += bytesInJson(part);
    parts.push(part);
  }
  return `${first}${parts.join('')}${last}`;
}

/** Returns opening brackets and the same number of closing brackets. */
function nested(open: string, close: string, bytes: number): string {
  const depth = Math.floor(bytes / (bytesInJson(open) + bytesInJson(close)));
  return open.repeat(depth) + close.repeat(depth);
}

/** Returns lines, each indented deeper than the last. The size is the square of the depth. */
function staircase(bytes: number): string {
  const steps = Math.floor(Math.sqrt(2 * bytes));
  return Array.from({ length: steps }, (_, index) => `${' '.repeat(index)}a:\n`).join('');
}

function aliases(bytes: number): string {
  const doubling = Array.from(
    { length: 24 },
    (_, index) => `k${index}: &k${index} [${index === 0 ? 'x' : `*k${index - 1}, *k${index - 1}`}]\n`,
  );
  return doubling.join('') + many('- *k23\n', bytes);
}

/** Texts that repeat one unit. */
const repeated: Readonly<Record<string, string>> = {
  digits: '9',
  zeros: '0',
  letters: 'a',
  'capitals-and-small-letters': 'aB',
  'hexadecimal-digits': '0x',
  exponents: '1e9',
  signs: '-+',
  dots: '.',
  'version-parts': '1.',
  'version-with-prerelease': '1.0.0-a.',
  slashes: '/',
  'climbing-paths': '../',
  'url-parts': 'http://a@b:80/?a=b#',
  spaces: ' ',
  tabs: '\t',
  newlines: '\n',
  'carriage-returns': '\r\n',
  lines: 'a\n',
  words: 'ab ',
  quotes: '"',
  'single-quotes': "'",
  backslashes: '\\',
  percents: '%',
  verbs: '%[1]*d%s',
  'opening-brackets': '[',
  'opening-braces': '{"a":',
  'template-actions': '{{.}}',
  commas: ',',
  colons: ':',
  dashes: '- ',
  'question-marks': '? ',
  'exclamation-marks': '!a ',
  ampersands: '&a ',
  asterisks: '*',
  hashes: ' # ',
  pipes: '|\n ',
  underscores: '_',
  equals: 'a=b,',
  dollars: '$(A)${A}',
  'less-than-signs': '<',
  'two-byte-letters': 'é',
  'letters-that-grow': 'ŉİß',
  'astral-letters': '𝔘',
  'combining-marks': 'a\u0301\u0323',
  'right-to-left': '\u202e\u05d0',
  'lone-surrogates': '\ud800',
  'line-separators': '\u2028',
  'control-characters': '\u0001',
  'nul-characters': '\u0000',
  base64: 'QUJD',
  durations: '1h1m1.1s',
  dates: '2001-01-01T00:00:00Z ',
  sexagesimals: '59:',
  networks: '10.0.0.0/8,',
  'ipv6-networks': '::1/128,',
  ports: '80,',
  'flow-lists': '[a],',
};

export const hostileTexts: readonly HostileText[] = [
  ...Object.entries(repeated).map(([name, unit]) => ({ name, make: (bytes: number) => many(unit, bytes) })),
  { name: 'digits-and-a-letter', make: (bytes) => `${many('9', bytes)}x` },
  { name: 'digits-and-seconds', make: (bytes) => `${many('9', bytes)}s` },
  { name: 'digits-with-a-point', make: (bytes) => `0.${many('0', bytes)}1` },
  { name: 'digits-and-a-unit', make: (bytes) => `${many('9', bytes)}Mi` },
  { name: 'digits-with-an-exponent', make: (bytes) => `1e${many('9', bytes)}` },
  { name: 'spaces-and-a-letter', make: (bytes) => `a${many(' ', bytes)}a` },
  { name: 'newlines-and-a-letter', make: (bytes) => `a${many('\n', bytes)}a` },
  { name: 'slashes-and-a-letter', make: (bytes) => `a${many('/', bytes)}a` },
  { name: 'nested-lists', make: (bytes) => nested('[', ']', bytes) },
  { name: 'nested-objects', make: (bytes) => `${many('{"a":', bytes * 0.8)}1${many('}', bytes * 0.15)}` },
  { name: 'deep-indentation', make: staircase },
  { name: 'yaml-aliases', make: aliases },
  { name: 'yaml-keys', make: (bytes) => numbered((index) => `k${index}: v\n`, bytes) },
  { name: 'yaml-equal-keys', make: (bytes) => many('k: v\n', bytes) },
  { name: 'yaml-list', make: (bytes) => many('- v\n', bytes) },
  { name: 'yaml-anchors', make: (bytes) => numbered((index) => `k${index}: &a${index} v\n`, bytes) },
  { name: 'yaml-merges', make: (bytes) => `a: &a {b: 1}\n${numbered((index) => `k${index}: {<<: *a}\n`, bytes)}` },
  { name: 'yaml-documents', make: (bytes) => many('---\n', bytes) },
  { name: 'json-list', make: (bytes) => numbered((index) => `,${index}`, bytes, ['[0', ']']) },
  { name: 'json-keys', make: (bytes) => numbered((index) => `,"k${index}":1`, bytes, ['{"k":1', '}']) },
  { name: 'json-objects', make: (bytes) => many(',{"name":"a"}', bytes).replace(',', '[').concat(']') },
  { name: 'names', make: (bytes) => numbered((index) => `n${index},`, bytes) },
  { name: 'distinct-networks', make: (bytes) => numbered((n) => `10.${n & 255}.${(n >> 8) & 255}.0/24,`, bytes) },
  { name: 'distinct-ports', make: (bytes) => numbered((index) => `${1 + (index % 65_535)},`, bytes) },
];
