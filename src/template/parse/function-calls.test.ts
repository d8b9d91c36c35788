import assert from 'node:assert/strict';
import { functionCalls } from './function-calls.ts';

describe('the calls of functions in a template', () => {
  const rows: [title: string, text: string, calls: string[]][] = [
    ['a pipeline', '{{ .A | one | two "x" }}', ['one 1:9', 'two 1:15']],
    ['the first character', '{{one}}', ['one 1:3']],
    ['parentheses', '{{ (one (two 1).B).C }}', ['one 1:5', 'two 1:10']],
    [
      'branches',
      'a\n{{ if one }}\n{{ two }}{{ else if three }}{{ else }}{{ four }}{{ end }}',
      ['one 2:7', 'two 3:4', 'three 3:21', 'four 3:42'],
    ],
    [
      'loops and variables',
      '{{ range $i, $x := one .A }}{{ with $y := two }}{{ end }}{{ end }}',
      ['one 1:20', 'two 1:43'],
    ],
    ['definitions', '{{ define "a" }}{{ one }}{{ end }}{{ template "a" two }}', ['one 1:20', 'two 1:51']],
    ['no calls', 'one {{ .one }} {{ $.two }} {{ "three" }} {{/* four */}}', []],
  ];
  for (const [title, text, calls] of rows) {
    it(`are found in ${title}`, () => {
      const found = functionCalls(text, ['{{', '}}']).map(({ name, line, column }) => `${name} ${line}:${column}`);
      assert.deepEqual(found, calls);
    });
  }

  it('are found with other delimiters', () => {
    assert.deepEqual(functionCalls('[[ one ]] {{ two }}', ['[[', ']]']), [{ name: 'one', line: 1, column: 4 }]);
  });
});
