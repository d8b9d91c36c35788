import assert from 'node:assert/strict';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { TypedValue } from './typed-value.ts';

const functions = functionsOfFamily('istio');

function failure(template: string, data: unknown = {}): TemplateError {
  try {
    compileTemplate(template, { name: 'sidecar', functions }).execute(data);
  } catch (error) {
    assert.ok(error instanceof TemplateError);
    return error;
  }
  throw new assert.AssertionError({ message: `${template} must fail` });
}

describe('template errors', () => {
  const syntax: readonly (readonly [string, string, number, number, string])[] = [
    ['an unknown function', 'a\n{{ tooYaml .x }}', 2, 3, 'function "tooYaml" not defined; did you mean "toYaml"?'],
    ['an unknown function without a hint', '{{ zzzzzzzz }}', 1, 3, 'function "zzzzzzzz" not defined'],
    ['an unclosed action', '{{ .x', 1, 5, 'unclosed action'],
    ['an unclosed multi-line action', 'a\n{{ .x\n\n', 4, 0, 'unclosed action started at sidecar:2'],
    ['an unclosed string', '{{ if .x\n"a\n', 2, 0, 'unterminated quoted string in action started at sidecar:1'],
    ['a superfluous {{end}}', 'é {{ .x }}\nb{{ end }}', 2, 8, 'unexpected {{end}}'],
    ['a missing {{end}}', '{{ if .x }}a', 1, 12, 'unexpected EOF'],
    ['a character without a meaning', '{{ § }}', 1, 3, "unrecognized character in action: U+00A7 '§'"],
    ['a character that cannot be printed', '{{ \u200b }}', 1, 3, 'unrecognized character in action: U+200B'],
    ['an invalid character in a name', '{{ .x§ }}', 1, 3, "bad character U+00A7 '§'"],
    ['a {{break}} outside of {{range}}', '{{ break }}', 1, 3, '{{break}} outside {{range}}'],
    ['a break with an argument', '{{ range .x }}{{ break 1 }}{{ end }}', 1, 23, 'unexpected "1" in {{break}}'],
    ['an undefined variable', '{{ $x }}', 1, 3, 'undefined variable "$x"'],
    ['a long wrong token', '{{ template abcdefghijklmnop }}', 1, 12, 'unexpected "abcdefghij"... in template clause'],
    ['deep nesting', `{{ ${'('.repeat(500)} }}`, 1, 403, 'max expression depth exceeded'],
  ];
  for (const [title, template, line, column, reason] of syntax) {
    it(`of syntax have a position and a reason: ${title}`, () => {
      const error = failure(template);
      assert.deepEqual([error.kind, error.position.line, error.position.column], ['syntax', line, column]);
      assert.equal(error.reason, reason);
      assert.match(error.message, /^template: sidecar:\d+: /);
    });
  }

  const execution: readonly (readonly [string, string, string])[] = [
    ['{{ len 3 }}', 'len 3', 'error calling len: len of type int'],
    ['{{ not }}', 'not', 'wrong number of args for not: want 1 got 0'],
    ['{{ printf }}', 'printf', 'wrong number of args for printf: want at least 1 got 0'],
    ['a{{ template "nowhere" . }}', '{{template "nowhere" .}}', 'template "nowhere" not defined'],
    ['{{ range $i, $x := 3 }}{{ end }}', '3', "can't use 3 to iterate over more than one variable"],
    ['{{ len ($x := 1) }}', 'len ($x := 1)', 'error calling len: len of type int'],
    ['{{ $x := 1 }}{{ len ($x = 2) }}', 'len ($x = 2)', 'error calling len: len of type int'],
    ['{{ .a | fail "no" }}', 'fail', 'wrong number of args for fail: want 1 got 2'],
  ];
  for (const [template, context, reason] of execution) {
    it(`of execution have Go's message: ${template}`, () => {
      const error = failure(template, { a: 1 });
      assert.equal(error.kind, 'execution');
      assert.equal(error.reason, reason);
      assert.equal(error.position.context, context);
      const { line, column } = error.position;
      const prefix = `template: sidecar:${line}:${column}: executing "sidecar" at <${context}>`;
      assert.equal(error.message, `${prefix}: ${reason}`);
    });
  }

  it('give the reason for an omitted function', () => {
    const unavailable = { now: 'depends on the time of day' };
    assert.throws(() => compileTemplate('{{ now }}', { name: 't', unavailable }), {
      message: 'template: t:1: function "now" not defined: it depends on the time of day',
    });
  });

  it('name the executing template', () => {
    const message = failure('{{ define "part" }}{{ len 1 }}{{ end }}{{ template "part" }}').message;
    assert.match(message, /executing "part" at <len 1>/);
  });

  it('show a caret, even below tabs and wide characters', () => {
    const error = failure('x\n\té {{ len 3 }}\ny');
    assert.match(error.message, /sidecar:2:7:/);
    const shown = ['sidecar:2:8: error calling len: len of type int', '\té {{ len 3 }}', '\t     ^'];
    assert.deepEqual(error.caret(), shown);
  });

  it('report data that contains itself', () => {
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    const { kind, reason } = failure('{{ print . }}', endless);
    assert.deepEqual([kind, reason], ['limit', 'exceeded the depth of 400 nested lists and maps']);
    assert.equal(failure('{{ . }}', endless).kind, 'limit');
  });

  it('report that a function cannot be printed', () => {
    const call = functions.upper;
    assert.equal(failure('{{ .call }}', { call }).reason, "can't print {{.call}} of type func(string)");
    assert.equal(failure('{{ .call | toJson | len | fail }}', { call }).kind, 'execution');
    assert.ok(!(call instanceof TypedValue));
  });
});
