import { HostileTexts } from '../hostile/hostile-texts.ts';
import type { Random } from '../template-recorder/random.ts';

/** Texts that mean something to somebody: YAML, Go, JSON, a shell, the kubelet, a template. */
const texts: readonly string[] = [
  ...[
    '',
    '',
    '',
    ' ',
    '  ',
    '\t',
    '\n',
    '\u00a0',
    '\u200b',
    'true',
    'false',
    'null',
    '~',
    'Null',
    'NULL',
    'yes',
    'no',
    'on',
    'off',
    'y',
    'n',
  ],
  ...[
    '0',
    '1',
    '2',
    '-1',
    '+8080',
    '8080',
    '65536',
    '3.14',
    '1e3',
    '0x1F',
    '0o17',
    '1_000',
    '.5',
    '99999999999',
    '100m',
    '1Gi',
    '80,443',
    '12:30',
    '1.2.3',
  ],
  ...[
    'a',
    'A',
    'b',
    'ab',
    'Ab',
    'x',
    'xy',
    '_',
    '__',
    '___',
    '-',
    '--',
    '---',
    '.',
    '..',
    '...',
    '/',
    '//',
    ':',
    '*',
    '&',
    '!',
    '?',
    '|',
    '>',
    '%',
    '@',
    '`',
    '=',
    ',',
  ],
  ...[
    '"',
    "'",
    '""',
    "''",
    '\\',
    '\\"',
    '"\'',
    'a"b',
    "a'b",
    'a: b',
    'a:',
    ': a',
    '#',
    ' # a',
    'a #b',
    '- a',
    '[a',
    'a]',
    '{a',
    'a}',
    '[]',
    '{}',
    '[a, b]',
    '{a: b}',
    'a, b',
  ],
  ...[
    '!!str 1',
    '!!binary eA==',
    '!!null x',
    '!evil',
    '&a b',
    '*a',
    '<<',
    '<<: *a',
    '%YAML 1.1',
    '|-',
    '>+',
    '? a',
    '{"a":"b"}',
    '["a","b"]',
    '{"name":"evil","value":"1"}',
    '{"privileged":true}',
    'privileged: true',
  ],
  ...[
    '$(id)',
    '$(OWN)',
    '`id`',
    '; id',
    'x; id > /pwned',
    '&& id',
    '| sh',
    '$HOME',
    '${HOME}',
    '{{ . }}',
    '{{ end }}',
    '%s',
    '%d%v',
    '%!s(MISSING)',
    '<no value>',
    '<nil>',
    'map[]',
  ],
  ...[
    '-c',
    '-ec',
    '-e',
    '--',
    '--privileged=true',
    '--level=debug',
    '--exec=id',
    '--command',
    '-x',
    '--',
    'sh',
    '/bin/sh',
    'LD_PRELOAD',
    'PATH',
    'TEAM',
    'OWN',
    'web',
    'sidecar',
    'data',
    'evil:1',
    'root',
    '/etc',
    '../..',
    '/',
    'host',
    'Always',
  ],
  ...[
    'é',
    'ü',
    '日本',
    '\u{1f600}',
    '\ud800',
    '\ufeff',
    '\u2028',
    '\u0085',
    '\r',
    '\r\n',
    '\0',
    '\u001b[2J',
    'İ',
    'ß',
    'x'.repeat(63),
    'x'.repeat(300),
    'ab '.repeat(200),
    'a,'.repeat(100),
    'NONE',
    'TPROXY',
    'REDIRECT',
    'None',
    'True',
    'TRUE',
  ],
  ...[
    '$patch: delete',
    '$patch',
    'delete',
    '"\n- evil',
    'a\nb',
    'a\n  b',
    'a\n\nb',
    'a\n---\nb',
    'a\n...\n',
    '\n- name: EVIL\n  value: x',
    '"}, {"name": "EVIL',
    "'}, {'name': 'EVIL'",
    'x, privileged: true',
    'x}, {name: EVIL',
    '#"',
    'aGk=',
    'eA==',
    '%0a',
    '&#10;',
    '\\n',
    '\\u000a',
  ],
];

/** Ordinary texts of ordinary people. */
const plain: readonly string[] = [
  'shop',
  'team-a',
  'debug',
  'info',
  'v1.2',
  '8080',
  '3',
  '100m',
  'my.host',
  'a_b',
  'x/y',
  'Hello World',
  'a,b',
  '80,443',
  'misc:error,x:y',
];

/** What authors write: what is ordinary, what is hostile, and what the template itself says. */
export class AuthorTexts {
  readonly #random: Random;
  readonly #hostile: HostileTexts;

  constructor(random: Random) {
    this.#random = random;
    this.#hostile = new HostileTexts(random);
  }

  /** @param constants of the template at hand: to compare with, to look up */
  next(constants: readonly string[]): string {
    const random = this.#random;
    const choice = random.next();
    if (choice < 0.24) return random.pick(plain);
    if (choice < 0.43 && constants.length > 0) return this.#like(random.pick(constants));
    if (choice < 0.5) return this.#hostile.next().slice(0, 400);
    if (choice < 0.55) return random.pick(texts) + random.pick(texts);
    return random.pick(texts);
  }

  /** Something that passes a comparison with a constant, or nearly. */
  #like(constant: string): string {
    const random = this.#random;
    switch (random.below(6)) {
      case 0:
        return `${constant}${random.pick(['x', ' ', '1', '-c'])}`;
      case 1:
        return `${random.pick(['x', ' ', '1', '-'])}${constant}`;
      case 2:
        return constant === constant.toUpperCase() ? constant.toLowerCase() : constant.toUpperCase();
      default:
        return constant;
    }
  }
}
