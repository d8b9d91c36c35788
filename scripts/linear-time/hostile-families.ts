const repeated: readonly string[] = [
  ...['0', '9', 'a', 'A', '/', '.', ' ', '\n', '\t', '"', "'", '\\', '{', '}', '[', ']', '(', ',', ':', '-', '+', '_'],
  ...['%', '#', '=', '&', '*', '|', '<', '$', '?', '!', '~', '^', '@', ';'],
  ...[
    'a: ',
    '- ',
    '%s',
    '%d ',
    '%[1]s',
    '\r\n',
    '\r',
    ' \n',
    '\n ',
    '  a',
    ' #',
    ': ',
    '? ',
    '"a',
    '\\"',
    '{a: ',
    '[a, ',
    '&a ',
    '*a ',
    '<<',
  ],
  ...[
    '../',
    './',
    'a/',
    '//',
    'aA',
    'Aa',
    'a_',
    'a b',
    'A1',
    '1.',
    '1-',
    '1.1-a.',
    'v1',
    '1e',
    '0x',
    '.0',
    '_1',
    '+1',
    '1:',
    '0_',
  ],
  ...[
    'e\u0301',
    '\u0301',
    'é',
    '日',
    '😀',
    '\u200d',
    '\u0085',
    ' \u0085',
    '\u2028',
    '\ufeff',
    '\udc80',
    '\ud83d',
    '\uffff',
    '\0',
    '\x7f',
  ],
  ...[
    '%20',
    '%zz',
    'a=b&',
    'http://',
    '@:',
    'MZXW6===',
    'aGVsbG8=',
    'Zm9v\n',
    '||',
    '>=1 ',
    '1 - 2 ',
    'a,',
    'k=v,',
    '1h',
    '1d',
    '\\Q',
    '(?:',
    '[[:',
    'a|',
    'x*',
    '(a*)*',
    '<a>',
    '&amp;',
  ],
];

/** What follows the repetition: with a letter, a reader which has come that far has to give up. */
const ends: readonly string[] = ['', 'x'];

/** Texts of a length, by a name. */
export interface TextFamily {
  readonly name: string;
  readonly text: (length: number) => string;
}

/** Enough to find most mistakes. */
const usual: ReadonlySet<string> = new Set([
  '9',
  'a',
  '/',
  '.',
  ' ',
  '\n',
  '"',
  '\\',
  '{',
  ',',
  ':',
  '%',
  'aA',
  '1.',
  '1-',
  '\u0085',
  '\udc80',
  '&',
  '0',
  '(',
]);

/** @param thorough with everything that can be repeated and all that can follow */
export function textFamilies(thorough: boolean): TextFamily[] {
  return repeated
    .filter((part) => thorough || usual.has(part))
    .flatMap((part) =>
      ends.map((end) => ({
        name: `${JSON.stringify(part)}…${end === '' ? '' : JSON.stringify(end)}`,
        text: (length: number) => part.repeat(Math.max(1, Math.floor((length - end.length) / part.length))) + end,
      })),
    );
}

/** Pairs of a short and a long text where searching for the one in the other is hardest. */
export const searchFamilies: readonly {
  readonly name: string;
  readonly texts: (length: number) => [string, string];
}[] = [
  { name: 'ba…a in a…', texts: (length) => [`b${'a'.repeat(length / 2)}`, 'a'.repeat(length)] },
  { name: 'a…ab in a…', texts: (length) => [`${'a'.repeat(length / 2)}b`, 'a'.repeat(length)] },
  {
    name: 'a…ba…a in a…',
    texts: (length) => [`${'a'.repeat(length / 4)}b${'a'.repeat(length / 4)}`, 'a'.repeat(length)],
  },
  { name: 'ab…a in (ab)…', texts: (length) => [`${'ab'.repeat(length / 4)}a a`, 'ab'.repeat(length / 2)] },
  { name: 'equal', texts: (length) => ['a'.repeat(length), 'a'.repeat(length)] },
  { name: 'a in a…', texts: (length) => ['a', 'a'.repeat(length)] },
  { name: 'nothing in a…', texts: (length) => ['', 'a'.repeat(length)] },
];
