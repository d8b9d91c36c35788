import assert from 'node:assert/strict';
import { documentsOfFile } from './documents-of-file.ts';
import { FileError } from './file-error.ts';

const read = (text: string): unknown[] => Array.from(documentsOfFile(text), (document) => document.read());

describe('documentsOfFile', () => {
  const cases: [title: string, text: string, values: unknown[]][] = [
    [
      'separators with comments and spaces',
      '--- # a\na: 1\n---  \nb: 2\n--- # c\nc: 3',
      [{ a: 1 }, { b: 2 }, { c: 3 }],
    ],
    ['documents of comments only', '# a licence\n---\na: 1\n---\n# end\n', [null, { a: 1 }, null]],
    ['Windows line ends', 'a: 1\r\n---\r\nb: 2\r\n', [{ a: 1 }, { b: 2 }]],
    ['a byte order mark', '\ufeff---\na: 1\n', [{ a: 1 }]],
    ['only what precedes an end mark', 'a: 1\n...\n[\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['a stream of JSON objects', '{"a": 1}\n{"b": "}\\""}{"c": []}', [{ a: 1 }, { b: '}"' }, { c: [] }]],
    ['JSON before YAML', '{"a": 1}\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['a tab above braces that are not JSON', '\t\n{a: 1}\n', [{ a: 1 }]],
    ['a byte order mark below another separator', 'a: 1\n---\n\ufeffb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['maps in braces', '{a: 1}\n---\n{b: 2}\n', [{ a: 1 }, { b: 2 }]],
    ['keys with question marks', 'a: [? b : c]\nd: {? e : f}\n', [{ a: [{ b: 'c' }], d: { e: 'f' } }]],
    ['numbers of YAML without an end', 'a: 1e400\n', [{ a: '1e400' }]],
    ['text like anchors', 'a: x && y - &z! *.js\nb: c:,d #\t&e.f\n', [{ a: 'x && y - &z! *.js', b: 'c:,d' }]],
    [
      'tabs that do not indent',
      'a: [b ,\n\tc]\nd: {\n "e"\n\t}\ng: h\n   \t i\n',
      [{ a: ['b', 'c'], d: { e: null }, g: 'h i' }],
    ],
    ['question marks', 'a: b?\nc: ["d?", e] # [f?]\n? g\n: h\n', [{ a: 'b?', c: ['d?', 'e'], g: 'h' }]],
    ['tags', 'a: !!str 1\nb: ! 2 # !x>\nc: !x.y/z [d]\n', [{ a: '1', b: '2', c: ['d'] }]],
    ['line breaks that only YAML 1.1 knows', 'a: 1\n# x\u2028b: 2\n# y\u0085c: 3\n', [{ a: 1, b: 2, c: 3 }]],
    [
      'keys and items without values',
      'a: !\nb: [?x, y:, -, {z:,}]\n? c\n',
      [{ a: '', b: [{ x: null }, 'y:', '-', { 'z:': null }], c: null }],
    ],
    ['nothing', '', []],
  ];
  for (const [title, text, values] of cases) {
    it(`reads ${title}, as kubectl does`, () => {
      assert.deepEqual(read(text), values);
    });
  }

  const wrong: [title: string, text: string, message: RegExp][] = [
    [
      'content on the line of a separator',
      'a: 1\n--- {b: 2}\n',
      /^line 2: kubectl refuses content on the line of "---"/,
    ],
    ['an error in the second document', 'a: 1\n---\n\nb: [1\nc: 2\n', /^line [56], column \d+: /],
    [
      'a Helm template',
      'a: 1\n---\nb: {{ .Values.b }}\n',
      /^line 3: this looks like a template that has not been rendered/,
    ],
    ['an anchor that contains itself', '---\n# a\na: &a [*a]\n', /^line 2: an anchor contains itself$/],
    ['an unknown alias', 'a: *b\n', /^line 1, column 4: unidentified alias "b"$/],
    [
      'a control character in a comment',
      'a: 1\n# \x1b[2J\n',
      /^line 2, column 3: control characters .* U\+001B; write/,
    ],
    [
      'a tab that indents',
      'a:\n- \tb\n',
      /^line 2, column 3: found character that cannot start any token; write spaces instead of the tab$/,
    ],
    [
      'an empty line with a tab',
      'a: [b,\n\tc]\nd: |\n  x\n  \ty\ne: "\n\tf"\n\t\ng: 1\n',
      /^line 8, column 1: found character that cannot start any token; write spaces instead of the tab$/,
    ],
    ['an escape of JSON alone', 'a: "b\\/c"\n', /^line 1, column 6: found unknown escape character$/],
    [
      'half of a surrogate',
      '{a: "\\ud83d\\ude00"}\n',
      /^line 1, column 8: found invalid Unicode character escape code$/,
    ],
    ['a colon without a key in brackets', 'a: [b ,:  "c"]\n', /^line 1, column 8: did not find expected node content$/],
    ['a colon without a key in braces', 'a: { : b}\n', /^line 1, column 6: did not find expected node content$/],
    ['a number that is no float', '{"a": 1}\n{"b": [-1e400]}', /^line 2: kubectl refuses a number above/],
    ['an end mark alone', 'a: 1\n---\n# c\n...\n', /^line 4, column 1: did not find expected node content/],
    ['a directive', '%YAML 1.1\n---\na: 1\n', /^line 2, column 1: did not find expected <document start>$/],
    ['an unusual anchor', 'a: &b.c 1\n', /^line 1, column 4: found an invalid anchor or alias$/],
    ['an unusual tag', 'a: !|\n  b\n', /^line 1, column 4: found an invalid tag$/],
    [
      'a tab below a text in brackets',
      'a: {b: c\n\t}\n',
      /^line 2, column 1: found a tab character that violates indentation; write spaces instead of the tab$/,
    ],
    [
      'a tab at the start of a block',
      'a: |\n  \tb\n',
      /^line 2, column 3: found a tab character where an indentation space is expected; write spaces instead of the tab$/,
    ],
    [
      'a question mark inside brackets',
      'a: [http://b/?c=d]\n',
      /^line 1, column 14: did not find expected ',' or '\]'$/,
    ],
    ['a list as a key', 'a: b\n[c]: d\n', /^line 2, column 1: invalid map key: a list or a map/],
    ['a list as a key without a value', '{a, [b], c: 1}\n', /^line 1, column 5: invalid map key: a list or a map/],
    ['few bytes behind JSON', '{"a": 1}<\n', /^line 1: kubectl reads no YAML of fewer than four bytes/],
    ['few bytes in braces', ' {a}', /^line 1: kubectl reads no YAML of fewer than four bytes/],
    ['a byte order mark below the first separator', '---\n\ufeffa: 1\n', /^line 1: kubectl refuses a byte order mark/],
    ['a comment directly behind the first separator', '---#c\na: 1\n', /^line 1: kubectl refuses content on the line/],
    [
      'a map as a key whose map is replaced',
      'a:\n- {{b}}\na: c\n',
      /^line 2: this looks like a template .* \(invalid map key: a list or a map/,
    ],
    ['a missing key', 'a: 1\n? \n', /^line 2, column 2: invalid map key: null/],
    [
      'a map on the line of its key',
      'a: &b c: d\n',
      /^line 1, column 8: mapping values are not allowed in this context$/,
    ],
    ['a key on the last line of a text', 'a:\n  b: "\n  "c: d\n', /^line 3, column 4: did not find expected key$/],
    ['YAML after two JSON objects', '{"a": 1}{"b": 2}\n---\nc: 1\n', /^line 1: kubectl refuses what follows/],
    ['a JSON value after a JSON object', '{"a": 1}\n[]\n---\nb: 1\n', /^line 1: kubectl refuses what follows JSON/],
    ['another space after JSON', '{"a": 1}{"b": 1}\u00a0', /^line 1: kubectl refuses what follows JSON/],
    ['an invalid third JSON object', '{"a": 1}{"b": 2}\n{"c" 3}\n', /^line 2: .*JSON/],
  ];
  for (const [title, text, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => read(text),
        (error) => error instanceof FileError && message.test(error.message),
      );
    });
  }

  it('may have many keys, aliases and errors', () => {
    // Quadratic time would take minutes.
    const keys = Array.from({ length: 100_000 }, (_, index) => `k${index}: &a${index} 1\n`);
    assert.equal(Object.keys(read(keys.join(''))[0] as object).length, 100_000);
    assert.throws(() => read(`b: "${'\\x'.repeat(100_000)}"\n`), /^FileError: line 1, column 7: /);
    assert.throws(() => read(`a: &a [${'1, '.repeat(200)}]\nb: [1${', *a'.repeat(20_000)}]\n`), /excessive aliasing/);
    assert.equal(read(`${'---\n'.repeat(100_000)}a: 1\n`).length, 1);
    assert.equal(read('{"a": 1}'.repeat(20_000)).length, 20_000);
  });
});
