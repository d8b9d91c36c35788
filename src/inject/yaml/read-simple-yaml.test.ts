import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseAnyYaml } from './parse-yaml.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';

/** What a reader of all of YAML makes of a text; `undefined` when it refuses it. */
function anyway(text: string): { value: unknown } | undefined {
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
    it(`${value === undefined ? 'leaves' : 'reads'} ${JSON.stringify(text)}`, () => {
      assert.deepEqual(readSimpleYaml(text), value);
      if (value !== undefined) assert.deepEqual(parseAnyYaml(text), value);
    });
  }

  const left = [
    ...[
      '',
      '# nothing\n',
      'scalar',
      '"scalar"',
      '---\na: 1',
      'a: 1\n---\nb: 2',
      'a: 1\n...\n',
      '%YAML 1.1\n',
      'a: \t1',
      'a: é',
    ],
    ...[
      'a: b: c',
      'a: b #c',
      'a: # c',
      'a: b\n  c',
      'a: "b\n  c"',
      'a: "\\n"',
      'a: "b" c',
      "a: 'b",
      'a: >\n  b',
      'a: |+\n  b\n',
    ],
    ...[
      'a: |\n\n  b\n',
      'a: |\nb: 1\n',
      'a: |',
      'a: |2\n  b\n',
      'a: |\n  b\n     \n',
      'a: |\n  b\n c\n',
      'a:\n    b: 1\n  c: 2\n',
      'a: 1\n b: 2\n',
    ],
    ...[
      'a: &x 1',
      'a: *x',
      'a: !!str 1',
      '? a\n: b',
      '<<: {a: 1}',
      'a: <<',
      '1: a',
      'yes: a',
      '__proto__: 1',
      '"__proto__": 1',
      '"a\\"b": 1',
    ],
    ...[
      '"[object Object]": 1',
      '-a: 1',
      'a: .inf',
      'a: - b',
      'a: @b',
      '- a\nb: 1',
      'a: 1\n- b',
      '- a\n  - b',
      '- - a',
      '-\n  a: 1',
      '-',
      '- "a"\n  b',
      'a b: 1',
    ],
    ...[
      'a: {b}',
      'a: {b:}',
      'a: {b: }',
      'a: {b: c d: e}',
      'a: {"b":1}',
      'a: [b',
      'a: [b: c]',
      'a: [b\n  c]',
      'a: [,]',
      'a: [b, # c\n d]',
      'a: {b:\n c}',
    ],
    ...[
      'a: [b] c',
      'a: ["b" c]',
      'a: [b[c]',
      'a: [-]',
      'a: {b: "c',
      `a: ${'['.repeat(70)}${']'.repeat(70)}`,
      '- '.repeat(70),
      'a: [',
      'a: ["',
    ],
  ];
  for (const text of left) {
    it(`leaves ${JSON.stringify(text.slice(0, 40))} to others`, () => {
      assert.equal(readSimpleYaml(text), undefined);
    });
  }

  it('is what all of YAML is, for any text that it reads', () => {
    const key = fc.constantFrom('a', 'b', 'name', 'x.y/z', '"q"', 'yes', '1', 'on-x', 'c d', "'k'");
    const scalar = fc.constantFrom(
      ...[
        '',
        'x',
        '1',
        '0x1F',
        '1_000',
        '-',
        '--y',
        'no',
        'null',
        '~',
        '"t"',
        "'t'",
        '"a\\"b"',
        'a:b',
        'a: b',
        'a #b',
        '1.50',
        '.5',
        '+1',
      ],
      ...[
        '|',
        '|-',
        '>',
        '{}',
        '[]',
        '{a: 1}',
        '[x, y]',
        '[x,\n   y]',
        '{a: b, "c": [1]}',
        '# c',
        '&a x',
        '*a',
        '- x',
        '12:30',
        '2020-01-01',
        '"',
        "''",
      ],
    );
    const indent = fc.constantFrom('', '', '  ', '  ', '    ', ' ', '      ');
    const line = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(indent, key, scalar).map(([space, name, value]) => `${space}${name}: ${value}`),
      },
      { weight: 4, arbitrary: fc.tuple(indent, scalar).map(([space, value]) => `${space}- ${value}`) },
      {
        weight: 3,
        arbitrary: fc.tuple(indent, key, scalar).map(([space, name, value]) => `${space}- ${name}: ${value}`),
      },
      { weight: 2, arbitrary: fc.tuple(indent, key).map(([space, name]) => `${space}${name}:`) },
      { weight: 1, arbitrary: fc.tuple(indent, scalar).map(([space, value]) => `${space}${value}`) },
      { weight: 1, arbitrary: fc.constantFrom('', '   ', '# comment', '  # comment', 'text', '  text', '-', '  -') },
    );
    let simple = 0;
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 7 }), fc.constantFrom('', '\n'), (lines, end) => {
        const text = lines.join('\n') + end;
        const value = readSimpleYaml(text);
        if (value === undefined) return;
        simple += 1;
        assert.deepEqual({ value }, anyway(text), JSON.stringify(text));
      }),
      { numRuns: 30_000 },
    );
    assert.ok(simple > 2000, `${simple} texts were simple`);
  });
});
