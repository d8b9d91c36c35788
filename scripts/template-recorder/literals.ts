import type { Random } from './random.ts';

/** Splits a text at `¦`, after which a line may end. */
export function items(text: string): string[] {
  return text.split(/¦\n?/);
}

function repeated(random: Random, most: number, make: () => string): string {
  return Array.from({ length: random.below(most + 1) }, make).join('');
}

/** Returns a number literal, sometimes an invalid one. */
export function numberLiteral(random: Random): string {
  const digits = (alphabet: string): string => repeated(random, 5, () => random.pick(Array.from(alphabet)));
  const sign = random.pick(['', '', '', '-', '+']);
  switch (random.below(9)) {
    case 0:
      return `${sign}0x${digits('0123456789abcdefABCDEF_')}`;
    case 1:
      return `${sign}0${random.pick(['b', 'o', 'B', 'O', ''])}${digits('01234567_')}`;
    case 2:
      return `${sign}${digits('0123456789_')}.${digits('0123456789')}`;
    case 3:
      return `${sign}${digits('0123456789')}e${random.pick(['', '-', '+'])}${digits('0123')}`;
    case 4:
      return `'${random.pick(['a', '\\n', '\\x41', '\\u00e9', '世', "\\'", '\\101', 'ab', '', '\\"', '\\400'])}'`;
    case 5:
      return `${sign}${digits('0123456789')}i`;
    case 6:
      return `0x${digits('0123456789abcdef')}p${random.pick(['-', '+', ''])}${digits('0123')}`;
    case 7:
      return `${sign}9223372036854775${random.below(1000)}`;
    default:
      return `${sign}${1 + random.below(100000)}`;
  }
}

const pieces = [
  ...[
    'a',
    'Zoë',
    ' ',
    '-',
    '_',
    ',',
    '=',
    ':',
    '/',
    '.',
    '%',
    '#',
    '1',
    '007',
    '日本',
    '🚀',
    '{',
    '}',
    '[',
    ']',
    '&',
    '*',
    '!',
    '|',
    '>',
    "'",
    '@',
    '?',
  ],
  ...[
    '\\n',
    '\\t',
    '\\"',
    '\\\\',
    '\\x41',
    '\\u00e8',
    '\\U0001F680',
    '\\101',
    'true',
    'null',
    'yes',
    '~',
    '- ',
    ': ',
    ' #',
    '\\r',
    '\\u2028',
    '\\x80',
    'HTTP',
    'someWord',
  ],
];

/** Returns a string literal, quoted or raw. */
export function stringLiteral(random: Random): string {
  if (random.chance(0.15))
    return `\`${repeated(random, 4, () => random.pick(['a', '\\n', '"', '\n', '  ', 'x: y', '- z', '{}', '\r\n']))}\``;
  if (random.chance(0.03)) return `"${random.pick(['\\q', '\\xZZ', '\\u12', '\\ud800', "\\'"])}"`;
  return `"${repeated(random, 6, () => random.pick(pieces))}"`;
}

/** Returns a format for printf. */
export function formatString(random: Random): string {
  const verb = (): string => {
    const flags = repeated(random, 2, () => random.pick(['#', '0', '+', '-', ' ']));
    const width = random.pick(['', '', '', '5', '12', '*', '[1]*', '3']);
    const precision = random.pick(['', '', '', '.2', '.0', '.', '.*', '.7']);
    const index = random.chance(0.06) ? random.pick(['[1]', '[2]', '[9]', '[x]', '[']) : '';
    const letter = random.pick(Array.from('vvvsssddfgqqxXtTeEGcUobOwz!%'));
    return `%${flags}${random.chance(0.5) ? '' : width}${random.chance(0.6) ? '' : precision}${index}${letter}`;
  };
  const text = repeated(random, 3, () => random.pick([verb(), verb(), 'x', ' ', 'é', '|']));
  return `"${text === '' ? '%v' : text}${random.chance(0.02) ? '%' : ''}"`;
}

const atoms = [
  ...[
    'a',
    'o',
    'b+',
    '[a-z]+',
    '[^aeiou]',
    '.',
    '\\\\d+',
    '\\\\w*',
    '\\\\s',
    '(o)',
    '(?P<n>r+)',
    'x*',
    '^',
    '$',
    '\\\\b',
    '(?i)B',
    '(a|o|)',
    '[[:alpha:]]',
  ],
  ...[
    '\\\\pL',
    'é',
    '.*?',
    'r{1,2}',
    '\\\\.',
    '(?:ar)?',
    '[^\\\\n]+',
    '(?s).',
    '\\\\Qa.b\\\\E',
    '(?m)^',
    '\\\\z',
    'l|p',
  ],
];

/** Returns a regular expression in RE2's syntax, sometimes an invalid one. */
export function regularExpression(random: Random): string {
  const wrong = random.chance(0.08)
    ? random.pick(['[', '(', '*', 'a**', '(?=a)', '\\\\8', 'x{1001}', '(?P<n', ')', '[z-a]', '\\\\'])
    : '';
  return `"${repeated(random, 2, () => random.pick(atoms))}${random.pick(atoms)}${wrong}"`;
}
