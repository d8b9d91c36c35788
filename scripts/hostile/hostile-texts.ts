import type { Random } from '../template-recorder/random.ts';

/** What somebody would add to a pod, as lines of YAML that begin where the text stands. */
const additions = [
  ['- name: evil', '  image: evil:1', '  securityContext: {privileged: true}'],
  ['containers:', '- name: evil', '  image: evil:1'],
  ['initContainers:', '- {name: evil, image: "evil:1", securityContext: {runAsUser: 0}}'],
  ['volumes:', '- name: evil', '  hostPath: {path: /}'],
  ['- name: evil', '  hostPath:', '    path: /'],
  ['securityContext:', '  privileged: true'],
  ['privileged: true'],
  ['hostNetwork: true'],
  ['serviceAccountName: admin'],
  ['image: evil:1'],
  ['command: [sh, -c, evil]'],
  ['envFrom: [{secretRef: {name: evil}}]'],
  ['- name: EVIL', '  value: evil'],
  ['valueFrom: {secretKeyRef: {name: evil, key: evil}}'],
  ['spec:', '  hostPID: true'],
  ['metadata: {labels: {evil: evil}}'],
  ['evil: evil'],
  ['- evil'],
  ['$patch: delete'],
];

const fragments: Readonly<Record<string, readonly string[]>> = {
  quotes: ['"', "'", '""', "''", '\\"', '`', '" ', "' ", '\\', '\\\\', '"\\'],
  anchors: ['&a x', '*a', '&a', '<<: *a', '{<<: *a}', '*', '&', '<<'],
  tags: ['!!str x', '!!binary eA==', '!!map {}', '!evil x', '!!python/object:x', '!', '!<tag:x> y', '!!null'],
  flow: [
    '{',
    '}',
    '[',
    ']',
    '{}',
    '[]',
    '[a, b]',
    '{a: b}',
    ', evil: evil',
    '], [',
    '}, {',
    'a, b',
    ',',
    '{a, b}',
    '"}, {"name": "evil"',
  ],
  block: [
    '|',
    '>',
    '|-',
    '>+',
    '|2',
    '- a',
    '-',
    '? a',
    '?',
    ': ',
    ':',
    'a: b',
    'a:',
    '- - -',
    '---',
    '...',
    '--- x',
    '%YAML 1.1',
  ],
  comments: ['#', ' # x', 'x #', '#x', '//', '/* x */', '<!-- x -->'],
  templates: [
    '{{',
    '}}',
    '{{ .Values }}',
    '[[ . ]]',
    '{{ define "x" }}',
    '{{/*',
    '{{- "x" -}}',
    '$(A)',
    '${A}',
    '`id`',
    '%s%d%v',
    '%!s(MISSING)',
  ],
  separators: [
    '\u0085',
    '\u2028',
    '\u2029',
    '\r',
    '\r\n',
    '\n',
    '\t',
    '\v',
    '\f',
    '\ufeff',
    '\u00a0',
    '\u200b',
    '\u202e',
  ],
  control: ['\0', '\u0001', '\u001b[2J', '\u007f', '\ud800', '\u{1f600}', 'é', '\ufffd', '\uffff'],
  json: [
    '{"a": "b"}',
    '["a"]',
    '"a", "b": "c"',
    '\\u0022',
    '\\u000a',
    '\\n',
    '</script>',
    '{"a":',
    '1e400',
    '"__proto__": {}',
  ],
  encodings: ['%0a', '%22', '&quot;', '&#10;', '&lt;', '+', '=3D', '%00', 'eyJhIjoxfQ=='],
  words: [
    'null',
    '~',
    'Null',
    'true',
    'false',
    'yes',
    'no',
    'on',
    'off',
    'y',
    'n',
    '.inf',
    '.nan',
    '0x1F',
    '0o17',
    '1_000',
    '12:30:45',
    '1e3',
    '+1',
    '-1',
    '.5',
    '2026-11-20',
    '=',
  ],
  steering: [
    'NONE',
    'TPROXY',
    'REDIRECT',
    '0',
    '1',
    'debug',
    'privileged',
    'root',
    '__proto__',
    'constructor',
    'a/b',
    '../..',
    '/etc/passwd',
  ],
};
const kinds = Object.keys(fragments);

/** A source of texts that try to be more than a text. */
export class HostileTexts {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): string {
    switch (this.#random.below(8)) {
      case 0:
        return this.#fragment();
      case 1:
        return `${this.#start()}${this.#fragment()}`;
      case 2:
        return `${this.#fragment()}${this.#start()}${this.#fragment()}`;
      case 3:
        return [this.#fragment(), this.#fragment(), this.#fragment()].join(
          this.#random.pick(['', ' ', 'x', '\n', '": "']),
        );
      case 4:
        return `${this.#start()}${'x '.repeat(this.#random.below(40) === 0 ? 20_000 : this.#random.below(200))}${this.#fragment()}`;
      default:
        return `${this.#start()}${this.#random.pick(['', '"', "'", '",', '}', ']', '" }', "' #"])}${this.#lines()}${this.#random.pick(['', '', ' #', '\n', ' "', '\n  x: "', ' |'])}`;
    }
  }

  #start(): string {
    return this.#random.pick(['', 'x', 'a', '80', 'true', 'debug']);
  }

  #fragment(): string {
    return this.#random.pick(fragments[this.#random.pick(kinds)] ?? []);
  }

  /** Lines that begin at a depth where a template may be. */
  #lines(): string {
    const indent = ' '.repeat(2 * this.#random.below(9));
    const end = this.#random.pick(['\n', '\n', '\n', '\r\n', '\r', '\u0085', '\u2028']);
    return this.#random
      .pick(additions)
      .map((line) => `${end}${indent}${line}`)
      .join('');
  }
}
