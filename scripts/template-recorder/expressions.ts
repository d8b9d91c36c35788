import type { Random } from './random.ts';

/** A kind of argument. Each function is called with each kind at each position. */
export type ArgumentKind = keyof typeof expressions;

/** Expressions of each kind over the document `plain`. All are deterministic in Go. */
export const expressions = {
  missing: ['.nope', '.map.nope', '(.nope).deeper'],
  nil: ['.nul', '.map.c', '(index .list 3)', 'nil'],
  bool: ['.yes', '.no', 'true', 'false', '(eq .num 1.0)'],
  float: ['.num', '.zero', '.neg', '.frac', '.tiny', '.large', '.huge', '.exp', '1.5', '1e3', '-0.25', '2.0'],
  int: ['0', '1', '2', '3', '-1', '7', '40', '0x1F', "'a'", '(len .word)', '(int .num)', '1e2', '1234'],
  int64: ['(add 2 3)', '(int64 .frac)', '(sub 1 4)', '(mul 0 1)'],
  byte: ['(index .word 1)', '(index .accents 2)'],
  complex: ['1i', '1+2i'],
  string: [
    ...['.word', '.blank', '.spaced', '.lines', '.digits', '.number', '.accents', '.emoji', '.markup', '.escaped'],
    ...[
      '.camel',
      '.path',
      '.url',
      '.version',
      '.json',
      '.base64',
      '"a"',
      '"b,c"',
      '`raw\\n`',
      '"\\u00e9\\t"',
      '"%d %v"',
      '"1.2.3"',
    ],
    ...[
      '"[a-c]+"',
      '"(o)(a?)"',
      '" "',
      '"="',
      '""',
      '"string"',
      '"map"',
      '"k"',
      '"a"',
      '"oak"',
      '"\\xff"',
      '(trunc 5 .accents)',
    ],
  ],
  list: [
    '.list',
    '.words',
    '.numbers',
    '.none',
    '(list)',
    '(list 1 "a" nil 2.5)',
    '.ports',
    '(list (list 1) (dict "k" 1))',
  ],
  strings: ['(splitList "," "x,y,,z")', '(keys .labels | sortAlpha)', '(sortAlpha .words)', '(splitList "-" .blank)'],
  ints: ['(until 4)', '(untilStep 5 0 -2)', '(until 0)'],
  map: [
    '.map',
    '.empty',
    '.labels',
    '.nested',
    '.yaml',
    '(dict)',
    '(dict "k" 1 "l" (list 1 2))',
    '(dict "a" "x" "b" nil)',
  ],
  stringMap: ['(split "," "x,y")', '(splitn "/" 2 .path)'],
  pointer: ['(semver "1.2.3")', '(semver .version)'],
  // UTC only, because formats with numbers print other zones as addresses.
  time: [
    '(toDate "2006-01-02T15:04Z07:00" "2024-02-29T23:59Z")',
    '(toDate "" "x")',
    '(date_modify "-36h" (toDate "MST" "UTC"))',
  ],
  root: ['.', '$'],
} as const;

export const argumentKinds = Object.keys(expressions) as readonly ArgumentKind[];

/** Returns an expression of a kind. */
export function expression(random: Random, kind: ArgumentKind): string {
  return random.pick<string>(expressions[kind]);
}
