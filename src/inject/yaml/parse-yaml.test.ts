import assert from 'node:assert/strict';
import { readRows } from '../merge/testdata/read-rows.ts';
import { parseYaml } from './parse-yaml.ts';
import { YamlError } from './yaml-error.ts';

/** A document with the JSON from sigs.k8s.io/yaml (null if absent), or with the error. */
interface DocumentRow {
  y: string;
  j?: unknown;
  e?: string;
}

const rows = readRows<DocumentRow>(new URL('testdata/documents.jsonl.gz', import.meta.url));

/** Deliberate differences from Go. */
const DIFFERENCES: { reason: string; matches: (row: DocumentRow) => boolean; rows: number }[] = [
  {
    reason:
      'Go ignores all text after the first document; parseYaml rejects invalid YAML there, so that no part of a template is lost',
    matches: ({ y, e }) => e === undefined && (y.startsWith('  a: 1\nb:') || y.includes('...\n---\nb: [')),
    rows: 2,
  },
];

const alike = rows.filter((row) => !DIFFERENCES.some(({ matches }) => matches(row)));

describe('parseYaml', () => {
  // Values of sigs.k8s.io/yaml 1.6.0; other parsers add the outer items to the inner list.
  const loneDashes: [text: string, value: unknown][] = [
    ['a:\n-\n- b: 1\n  c:\n  -\n-\nd: 1\n', { a: [null, { b: 1, c: [null] }, null], d: 1 }],
    ['- - -\n- 2\n', [[[null]], 2]],
    ['- - 1\r\n  - # why\r\n\r\n# c\r\n- k:\r\n    -\r\n- 2', [[1, null], { k: [null] }, 2]],
    [
      '- - "x\n    -\n  - y"\n  - |\n    -\n   \n  -\n- k: x\n    -\n- &a\n  - -\n  - 1\n- *a\n',
      [['x - - y', '-\n', null], { k: 'x -' }, [[null], 1], [[null], 1]],
    ],
    ['- a: "\ue000"\n  b:\n  -\n', [{ a: '\ue000', b: [null] }]],
  ];
  for (const [text, value] of loneDashes)
    it(`reads ${JSON.stringify(text)} as Go does`, () => {
      assert.deepEqual(parseYaml(text), value);
    });

  describe(`compared with Go (${rows.length} recorded documents)`, () => {
    it('returns the same JSON', () => {
      for (const { y, j = null } of alike.filter(({ e }) => e === undefined))
        assert.deepEqual(parseYaml(y), j, JSON.stringify(y));
    });

    it('rejects the same documents', () => {
      for (const { y } of alike.filter(({ e }) => e !== undefined))
        assert.throws(() => parseYaml(y), YamlError, JSON.stringify(y));
    });

    for (const { reason, matches, rows: count } of DIFFERENCES) {
      it(`differs: ${reason}`, () => {
        const different = rows.filter(matches);
        assert.equal(different.length, count);
        for (const { y, j = null, e } of different) {
          if (e === undefined)
            assert.throws(() => {
              assert.deepEqual(parseYaml(y), j);
            }, JSON.stringify(y));
          else parseYaml(y);
        }
      });
    }
  });

  describe('names the line of the error in', () => {
    const cases: [text: string, line: number][] = [
      ['a: 1\nb: [\n', 3],
      ['a: 1\n\tb: 2\n', 2],
      ['a: 1\nb: c: d\n', 2],
      ['a: *unknown\n', 1],
      ['a: "open\n\nb: 1\n', 4],
    ];
    for (const [text, line] of cases) {
      it(JSON.stringify(text), () => {
        const message = new RegExp(`^yaml: line ${line}: `);
        assert.throws(() => parseYaml(text), { name: 'YamlError', line, message });
      });
    }
  });

  describe('for merge keys, like yaml.v2', () => {
    const base = 'base: &base {a: 1, b: 2}\n';
    const cases: [name: string, text: string, result: unknown][] = [
      ['lets later keys override a merge', 'x:\n  <<: *base\n  b: 3\n', { a: 1, b: 3 }],
      ['lets a merge override earlier keys', 'x:\n  b: 3\n  <<: *base\n', { a: 1, b: 2 }],
      ['prefers the first of several sources', 'x:\n  <<: [{a: 5}, *base]\n', { a: 5, b: 2 }],
      ['applies two merges', 'x: {<<: *base, <<: {c: 3}}\n', { a: 1, b: 2, c: 3 }],
      ['treats a quoted key as an ordinary key', 'x: {"<<": 1}\n', { '<<': 1 }],
    ];
    for (const [name, text, result] of cases) {
      it(name, () => {
        const document = parseYaml(base + text) as Record<string, unknown>;
        assert.deepEqual(document['x'], result);
        assert.deepEqual(document['base'], { a: 1, b: 2 });
      });
    }
  });

  it('shares aliased values', () => {
    const { a, b } = parseYaml('a: &x {c: ~}\nb: *x\n') as { a: unknown; b: unknown };
    assert.equal(a, b);
    assert.deepEqual(a, { c: null });
  });

  describe('rejects', () => {
    const level = (name: string, from: string): string => `${name}: &${name} [${Array(9).fill(`*${from}`).join()}]\n`;

    it('too much expansion by aliases', () => {
      const bomb = `a: &a [x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, index) => level(name, 'abcdefgh'.charAt(index))).join('')}`;
      assert.throws(() => parseYaml(bomb), new YamlError('document contains excessive aliasing'));
    });

    it('too much expansion by merges', () => {
      const merge = (name: string, from: string): string =>
        `${name}: &${name} {<<: [${Array(9).fill(`*${from}`).join()}], ${name}: 1}\n`;
      const bomb = `a: &a {x: 1}\n${merge('b', 'a')}${merge('c', 'b')}${merge('d', 'c')}${merge('e', 'd')}`;
      assert.throws(() => parseYaml(bomb), new YamlError('document contains excessive aliasing'));
    });

    it('too many levels', () => {
      assert.throws(() => parseYaml('['.repeat(501) + ']'.repeat(501)), /nesting exceeded/);
      assert.throws(() => parseYaml('['.repeat(100_000)), YamlError);
    });

    it('anchors that contain themselves', () => {
      assert.throws(() => parseYaml('a: &x {b: [*x]}\n'), new YamlError('an anchor contains itself'));
    });
  });

  it('does not touch prototypes', () => {
    const document = parseYaml('__proto__: {polluted: 1}\nb: &b {__proto__: 2}\nc: {<<: *b}\n') as object;
    assert.deepEqual(Object.keys(document), ['__proto__', 'b', 'c']);
    assert.equal(Object.getPrototypeOf(document), Object.prototype);
  });
});
