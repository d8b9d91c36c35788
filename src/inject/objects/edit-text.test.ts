import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsonEqual } from '../patch/json-equal.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { editedText } from './edit-text.ts';
import { FileError } from './file-error.ts';
import { entryLines, flowValue } from './write-value.ts';

type Change = (value: never) => unknown;

describe('editedText', () => {
  const cases: [title: string, before: string, change: Change, after: string][] = [
    [
      'a member',
      'a:\n  b: 1 # b\n  # end\nc: 2\n',
      (v: { a: object }) => ({ ...v, a: { ...v.a, d: [1] } }),
      'a:\n  b: 1 # b\n  d:\n  - 1\n  # end\nc: 2\n',
    ],
    ['lists', 'a:\n    - 1\n', (v: object) => ({ ...v, b: [{ c: [2] }] }), 'a:\n    - 1\nb:\n- c:\n  - 2\n'],
    ['a first item above its comments', 'a:\n# one\n- 1\n', () => ({ a: [0, 1] }), 'a:\n- 0\n# one\n- 1\n'],
    ['a member to an empty value', 'a: # why\nb: 1\n', () => ({ a: { c: 1 }, b: 1 }), 'a: # why\n  c: 1\nb: 1\n'],
    ['a value on its line', "a: 'x' # why\n", () => ({ a: 'z' }), "a: 'z' # why\n"],
    ['text of several lines', 'a: x\n', () => ({ a: 'b\n c\n' }), 'a: |\n  b\n   c\n'],
    ['Windows line ends', 'a:\r\n  b: 1\r\n', () => ({ a: { b: 1, c: 2 } }), 'a:\r\n  b: 1\r\n  c: 2\r\n'],
    ['a file without a last line break', 'a:\n  b: 1', () => ({ a: { b: 1, c: 2 } }), 'a:\n  b: 1\n  c: 2'],
    ['braces', 'a: { b: 1 }\n', () => ({ a: { b: 1, c: 'x: y' } }), 'a: { b: 1, "c": "x: y" }\n'],
    [
      'JSON',
      '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n',
      () => ({ a: { b: 1, c: [2] } }),
      '{\n\t"a": {\n\t\t"b": 1, "c": [ 2 ]\n\t}\n}\n',
    ],
    [
      'an item that moves',
      '- {name: a} # one\n- name: b\n',
      () => [{ name: 'b' }, { name: 'a' }],
      '- name: b\n- name: a\n',
    ],
    ['one of two aliases', 'a: &a {x: 1}\nb: *a\n', () => ({ a: { x: 1 }, b: { x: 2 } }), 'a: &a {x: 1}\nb:\n  x: 2\n'],
    [
      'what an anchor marks',
      'a: &a {x: 1}\nb: *a # b\n',
      () => ({ a: { x: 2 }, b: { x: 1 } }),
      'a: &a {x: 2}\nb: { "x": 1 } # b\n',
    ],
    [
      'a merged key',
      'a: &a {x: 1}\nb:\n  <<: *a\n',
      () => ({ a: { x: 1 }, b: { x: 2 } }),
      'a: &a {x: 1}\nb:\n  <<: *a\n  x: 2\n',
    ],
    [
      'an anchor in a value that a later key replaces',
      'm: &m {k: 1}\nt:\n  s: [&x 2, *x]\n  <<: *m\n  s: 3\nu: *x\n',
      () => ({ m: { k: 1 }, t: { s: 4 }, u: 2 }),
      'm: &m {k: 1}\nt:\n  s: 4\nu: 2\n',
    ],
    [
      'quoted text',
      'a: "x"\nb: {c: \'x\', d: x}\n',
      () => ({ a: 'y', b: { c: "it's", d: 'z' } }),
      "a: \"y\"\nb: {c: 'it''s', d: z}\n",
    ],
    [
      'braces that get empty',
      'a: { b: 1 }\nc: [ 1 ]\nd: [1,]\n',
      () => ({ a: {}, c: [], d: [] }),
      'a: {  }\nc: [  ]\nd: []\n',
    ],
    [
      'the last lines of a text without a last line break',
      'a:\n  b: 1\nc: 1\nd: 2',
      () => ({ a: { b: 1 } }),
      'a:\n  b: 1',
    ],
    [
      'below a line of spaces that is content',
      'a:\n  b: |-\n    x\n     \n\n',
      () => ({ a: { b: 'x\n ', c: 1 } }),
      'a:\n  b: |-\n    x\n     \n  c: 1\n\n',
    ],
    ['the last of equal keys', 'a: 1\na: 2\n', () => ({ a: 3 }), 'a: 1\na: 3\n'],
    [
      'quoted text at the column of its key',
      'a:\n  b: "x\n  y"\n  c: 1\n',
      () => ({ a: { b: 'x y', c: 1, d: 2 } }),
      'a:\n  b: "x\n  y"\n  c: 1\n  d: 2\n',
    ],
    [
      'items without a value',
      'a:\n-\n- # why\n\n- b: 1\n  c:\n  -\n  - 2\n-\nd: 1\n',
      () => ({ a: [null, null, { b: 2, c: [null, 3] }, null], d: 1 }),
      'a:\n-\n- # why\n\n- b: 2\n  c:\n  -\n  - 3\n-\nd: 1\n',
    ],
    [
      'beside members without braces',
      'a: [b: 1, {c: 2}, "d": [e: ]]\n',
      (v: { a: unknown[] }) => ({ a: [...v.a.with(1, { c: 3 }), 4] }),
      'a: [b: 1, { "c": 3 }, "d": [e: ], 4]\n',
    ],
    [
      'a member without braces',
      'a: [b: 1, c: &c {d: 1}]\ne: *c\n',
      () => ({ a: [{ b: 2 }, { c: { d: 2 } }], e: { d: 1 } }),
      'a: [{ "b": 2 }, { "c": { "d": 2 } }]\ne: { "d": 1 }\n',
    ],
    [
      'large integers that an alias stands for',
      'a: &a {x: 9007199254740993, w: [-9007199254740993, 1]}\nb: *a\nc: *a\nd:\n  <<: *a\n',
      (v: { a: object }) => ({ ...v, a: { ...v.a, z: 1 }, c: { ...v.a, z: 2 } }),
      'a: &a {x: 9007199254740993, w: [-9007199254740993, 1], "z": 1}\nb: { "x": 9007199254740993, "w": [ -9007199254740993, 1 ] }\nc:\n  x: 9007199254740993\n  w:\n  - -9007199254740993\n  - 1\n  z: 2\nd:\n  <<: { "x": 9007199254740993, "w": [ -9007199254740993, 1 ] }\n',
    ],
  ];
  for (const [title, before, change, after] of cases) {
    it(`changes ${title}`, () => {
      const value = parseYaml(before);
      const changed = change(value as never);
      const { text } = editedText(before, value, changed);
      assert.equal(text, after);
      assert.deepEqual(parseYaml(text), changed);
    });
  }

  it('removes what it adds', () => {
    const texts = ['a:\n  b: 1 # b\n', 'a: { b: 1 }', '{\n  "a": {\n    "b": 1\n  }\n}', 'a:\n  - b: 1\n    c: 2'];
    for (const text of texts) {
      const value = parseYaml(text) as object;
      const more = { ...value, added: { x: ['y'] } };
      assert.equal(editedText(editedText(text, value, more).text, more, value).text, text);
    }
  });

  it('changes, adds or removes each value of a text, or refuses', () => {
    const texts = [
      'a:\n- b: 1\n  c: {d: [1, 2], e: }\n- f # f\n# end\ng: |+\n  text\n\nh: >-\n  folded\n  text\n',
      '{a: {b: 1, c: [x, {d: e}]}, "f": [], g: {}}',
      'a: &a\n  b: 1\n  c: &c [1]\nd: *a\ne:\n  <<: *a\n  f: *c\ng: [*c, 2]\n',
      'a: !!str 1\nb: !!map\n  c: &x 1\n? d\n: e\nf:\n- - 1\n  - 2\n-\n  g: h\n',
      '\ufeffa: 1\r\nb:\r\n  - c: "d\r\n    e"\r\n  - \'f\'\r\n',
      '- a\n- b: c\n  d: e\n- [f]',
    ];
    /** Returns a value with one change at each place. */
    const changes = (value: unknown): unknown[] => {
      const whole = [{ x: 1 }, ['y', { z: null }], 'a\nb\n', {}, []];
      if (Array.isArray(value)) {
        const items = value as unknown[];
        const inner = items.flatMap((item, at) => changes(item).map((each) => items.with(at, each)));
        return [...whole, ...inner, ...items.map((_, at) => items.toSpliced(at, 1)), [0, ...items], [...items, 0]];
      }
      if (typeof value !== 'object' || value === null) return whole;
      const entries = Object.entries(value);
      const inner = entries.flatMap(([key, item]) => changes(item).map((each) => ({ ...value, [key]: each })));
      const without = entries.map((_, at) => Object.fromEntries(entries.toSpliced(at, 1)));
      return [...whole, ...inner, ...without, { ...value, added: { x: [1] } }];
    };
    let edited = 0;
    let refused = 0;
    for (const text of texts) {
      const value = parseYaml(text);
      for (const after of changes(value)) {
        try {
          // editFile refuses an edit whose text has another value.
          if (jsonEqual(parseYaml(editedText(text, value, after).text), after)) edited += 1;
          else refused += 1;
        } catch (error) {
          if (!(error instanceof FileError || error instanceof YamlError)) throw error;
          refused += 1;
        }
      }
    }
    assert.ok(edited > 300 && refused < edited / 10, `${edited} edited, ${refused} refused`);
  });

  it('names the line that it cannot edit', () => {
    assert.throws(() => editedText('a: 1\n? b\n', { a: 1, b: null }, { a: 1, b: 2 }), FileError);
  });

  it('refuses to write integers that differ only beyond 2^53', () => {
    const text = 'a: &a [9007199254740992, 9007199254740993]\nb: *a\n';
    const value = parseYaml(text) as { a: unknown };
    assert.throws(
      () => editedText(text, value, { ...value, a: [1] }),
      /9007199254740992 and 9007199254740993 .* quotes/,
    );
  });

  it('takes linear time for many aliases', () => {
    const text = `a: &a {x: 1}\nb:\n${'- {b: *a, c: 0}\n'.repeat(50_000)}`;
    const value = parseYaml(text) as { a: object };
    assert.equal(editedText(text, value, { ...value, a: { x: 2 } }).writtenOut.length, 50_000);
  });
});

describe('a written value', () => {
  it('has the same value for Go, in each style', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...Array.from('a1.:-#\n "\'{}[],&*!|>%@`~yn0xo_ \t\x7f\u2028\u{1f600}')) }),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(text, tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, (each) => {
        const expected = JSON.parse(JSON.stringify(each)) as unknown;
        assert.deepEqual(parseYaml(entryLines('a: b', each, 2).join('\n') + '\n'), { 'a: b': expected });
        assert.deepEqual(parseYaml(entryLines(undefined, each, 2).join('\n') + '\n'), [expected]);
        assert.deepEqual(parseYaml(`a: ${flowValue(each)}`), { a: expected });
        assert.deepEqual(JSON.parse(flowValue(each)), expected);
      }),
      { numRuns: 2000 },
    );
  });
});
