import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { parseAnyYaml } from './parse-yaml.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';

/** Parses with the full parser; `undefined` for invalid YAML. */
function parseFully(text: string): { value: unknown } | undefined {
  try {
    return { value: parseAnyYaml(text) };
  } catch {
    return undefined;
  }
}

describe('simple YAML', () => {
  const read: [text: string, value: unknown][] = [
    ['a: 1\nb: text\n', { a: 1, b: 'text' }],
    ['  a: 1\n  b: ~', { a: 1, b: null }],
    ['# first\na:\n\n  # second\n  b:   yes  \nc:\n', { a: { b: true }, c: null }],
    ['a:\n- x\n- 1.5\nb: -1\n', { a: ['x', 1.5], b: -1 }],
    [
      '- a: 1\n  b: 2\n-   c: 3\n    d:\n    - 4\n',
      [
        { a: 1, b: 2 },
        { c: 3, d: [4] },
      ],
    ],
    ['a: "q: \\"x\\" \\\\ #"\nb: \'it\'\'s\'\n"c d": ""\n', { a: 'q: "x" \\ #', b: "it's", 'c d': '' }],
    ['a: |\n  one\n   two\n\n  # three\nb: |-\n  four\n\n- no', undefined],
    ['a: |\n  one\n   two\n\n  # three\n\nb: |-\n  four\n\n', { a: 'one\n two\n\n# three\n', b: 'four' }],
    ['- |\n  text', ['text\n']],
    [
      'a: {b: 1, "c": [x, "y", {d: \'z\'}], e.f/g: $(H),\n  i: j,\n}\nk: []\n',
      { a: { b: 1, c: ['x', 'y', { d: 'z' }], 'e.f/g': '$(H)', i: 'j' }, k: [] },
    ],
    ['--flag: 1\n', undefined],
    ['args: [-p, --x=y:z]\n', { args: ['-p', '--x=y:z'] }],
    ['a: http://x:1/y#z\nnull-ish: nullable\nno.: 0777\n', { a: 'http://x:1/y#z', 'null-ish': 'nullable', 'no.': 511 }],
    ['constructor: 1\ntoString: {valueOf: 2}\n', { constructor: 1, toString: { valueOf: 2 } }],
  ];
  for (const [text, value] of read) {
    it(`${value === undefined ? 'rejects' : 'parses'} ${JSON.stringify(text)}`, () => {
      assert.deepEqual(readSimpleYaml(text), value);
      if (value !== undefined) assert.deepEqual(parseAnyYaml(text), value);
    });
  }

  /** The separator of texts is `¦`; `⏎` stands for a line break. */
  const table = `# nothing⏎ ¦ scalar ¦ "scalar" ¦ ---⏎a: 1 ¦ a: 1⏎---⏎b: 2 ¦ a: 1⏎...⏎ ¦ %YAML 1.1⏎ ¦
  a: b: c ¦ a: b #c ¦ a: # c ¦ a: b⏎  c ¦ a: "b⏎  c" ¦ a: "\\n" ¦ a: "b" c ¦ a: 'b ¦
  a: >⏎  b ¦ a: |+⏎  b⏎ ¦ a: |⏎⏎  b⏎ ¦ a: |⏎b: 1⏎ ¦ a: | ¦ a: |2⏎  b⏎ ¦ a: |⏎  b⏎     ⏎ ¦
  a: |⏎  b⏎ c⏎ ¦ a:⏎    b: 1⏎  c: 2⏎ ¦ a: 1⏎ b: 2⏎ ¦ a: &x 1 ¦ a: *x ¦ a: !!str 1 ¦
  ? a⏎: b ¦ <<: {a: 1} ¦ a: << ¦ 1: a ¦ yes: a ¦ __proto__: 1 ¦ "__proto__": 1 ¦
  "a\\"b": 1 ¦ "[object Object]": 1 ¦ -a: 1 ¦ a: .inf ¦ a: - b ¦ a: @b ¦ - a⏎b: 1 ¦
  a: 1⏎- b ¦ - a⏎  - b ¦ - - a ¦ -⏎  a: 1 ¦ - ¦ - "a"⏎  b ¦ a b: 1 ¦ a: {b} ¦ a: {b:} ¦
  a: {b: } ¦ a: {b: c d: e} ¦ a: {"b":1} ¦ a: [b ¦ a: [b: c] ¦ a: [b⏎  c] ¦ a: [,] ¦
  a: [b, # c⏎ d] ¦ a: {b:⏎ c} ¦ a: [b] c ¦ a: ["b" c] ¦ a: [b[c] ¦ a: [-] ¦ a: {b: "c ¦
  a: [ ¦ a: [" ¦ a: [b,⏎---⏎] ¦ a: [⏎%b] ¦ a:⏎...`;
  const rejected = table.split(/ ¦\s+/).map((text) => text.replaceAll('⏎', '\n'));
  rejected.push('', 'a: \t1', 'a: é', `a: ${'['.repeat(70)}${']'.repeat(70)}`, '- '.repeat(70));
  for (const text of rejected) {
    it(`rejects ${JSON.stringify(text.slice(0, 40))}`, () => {
      assert.equal(readSimpleYaml(text), undefined);
    });
  }

  it('agrees with the full parser on every accepted text', () => {
    const { simple, different } = compare(readSimpleYaml);
    assert.equal(different, undefined);
    assert.ok(simple > 2000, `${simple} texts were simple`);
  });

  const colonCheck = 'if (code === colon && (at + 1 === end || text.charCodeAt(at + 1) === space)) throw unusual;';
  const mistakes: [title: string, from: string, to: string][] = [
    ['a comment in a scalar', 'if (code === hash && text.charCodeAt(at - 1) === space) throw unusual;', ''],
    ['a colon in a scalar', colonCheck, ''],
    ['null as a string', 'const longestWord = 5;', 'const longestWord = 3;'],
    ['the line break at the end of a `|-` block', "return header === '|' ?", "return header !== '' ?"],
    ['a list at another column', 'while (this.#indent === indent && this.#isItem())', 'while (this.#isItem())'],
  ];
  for (const [index, [title, from, to]] of mistakes.entries()) {
    it(`detects a planted mistake: ${title}`, async () => {
      const folder = path.resolve(import.meta.dirname, '../../../.build', `yaml-mistakes-${process.pid}-${index}`);
      mkdirSync(folder, { recursive: true });
      try {
        for (const file of ['plain-scalar.ts', 'read-simple-yaml.ts']) {
          const text = readFileSync(path.join(import.meta.dirname, file), 'utf8');
          if (file === 'read-simple-yaml.ts') assert.equal(text.split(from).length, 2, 'the text must occur once');
          const imports = text.replace("'../", `'${new URL('../', import.meta.url).href}`);
          writeFileSync(path.join(folder, file), imports.replace(from, to));
        }
        const module = pathToFileURL(path.join(folder, 'read-simple-yaml.ts')).href;
        const { readSimpleYaml: mistaken } = (await import(module)) as { readSimpleYaml: typeof readSimpleYaml };
        assert.notEqual(compare(mistaken).different, undefined);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});

/** Compares a parser with the full parser on random texts. */
function compare(read: (text: string) => unknown): { simple: number; different: string | undefined } {
  const key = fc.constantFrom('a', 'b', 'name', 'x.y/z', '"q"', 'yes', '1', 'on-x', 'c d', "'k'");
  const words = `x 1 0x1F 1_000 - --y no null ~ "t" 't' "a\\"b" a:b 1.50 .5 +1 | |- > {} [] *a 12:30 2020-01-01 " ''`;
  const more = ['', 'a: b', 'a #b', '{a: 1}', '[x, y]', '[x,\n   y]', '{a: b, "c": [1]}', '# c', '&a x', '- x'];
  const scalar = fc.constantFrom(...words.split(' '), ...more);
  const indent = fc.constantFrom('', '', '  ', '  ', '    ', ' ', '      ');
  const weighted = (weight: number, arbitrary: fc.Arbitrary<string>) => ({ weight, arbitrary });
  const pair = fc.tuple(indent, key, scalar).map(([space, name, value]) => `${space}${name}: ${value}`);
  const item = fc.tuple(indent, scalar).map(([space, value]) => `${space}- ${value}`);
  const pairInItem = fc.tuple(indent, key, scalar).map(([space, name, value]) => `${space}- ${name}: ${value}`);
  const bareKey = fc.tuple(indent, key).map(([space, name]) => `${space}${name}:`);
  const bareScalar = fc.tuple(indent, scalar).map(([space, value]) => `${space}${value}`);
  const line = fc.oneof(
    weighted(6, pair),
    weighted(4, item),
    weighted(3, pairInItem),
    weighted(2, bareKey),
    weighted(1, bareScalar),
    weighted(1, fc.constantFrom('', '   ', '# comment', '  # comment', 'text', '  text', '-', '  -')),
  );
  let simple = 0;
  const { counterexample } = fc.check(
    fc.property(fc.array(line, { minLength: 1, maxLength: 7 }), fc.constantFrom('', '\n'), (lines, end) => {
      const text = lines.join('\n') + end;
      const value = read(text);
      if (value === undefined) return;
      simple += 1;
      assert.deepEqual({ value }, parseFully(text), JSON.stringify(text));
    }),
    { numRuns: 30_000, endOnFailure: true },
  );
  return { simple, different: counterexample === null ? undefined : JSON.stringify(counterexample) };
}
