import assert from 'node:assert/strict';
import { goFunction, goVariadic } from './go-function.ts';
import { protoMessageType } from '../istio/istio-functions.ts';
import { any, bool, integer, reflected, string, stringMap } from '../../exec/parameters.ts';
import { compileTemplate } from '../../template.ts';
import type { TemplateError } from '../../template-error.ts';
import { typeName } from '../../go-type.ts';

const data = {
  join: goVariadic([string], any, (separator, ...values) =>
    values.map((value) => JSON.stringify(value)).join(separator),
  ),
  double: goFunction([integer], (value) => value * 2n),
  map: goFunction([stringMap], (map) => map.isNil),
  self: goFunction([any], (value) => typeof value),
};

function render(template: string): string {
  return compileTemplate(template, { name: 't' }).execute(data);
}

describe('functions in the data', () => {
  const results: readonly (readonly [string, string])[] = [
    ['{{ call .join "-" 1.5 nil "a" }}', '1.5-null-"a"'],
    ['{{ call .join "-" }}', ''],
    ['{{ call .double 21 }}', '42'],
    ['{{ 21 | call .double }}', '42'],
    ['{{ call .map nil }}', 'true'],
    ['{{ call .self .double }}', 'object'],
    ['{{ if .double }}T{{ end }}{{ not .double }}', 'Tfalse'],
    ['{{ printf "%T" .join }}', 'func(string, ...interface {})'],
    ['{{ eq .double nil }}', 'false'],
  ];
  for (const [template, expected] of results) {
    it(`can be called and used as values: ${template}`, () => {
      assert.equal(render(template), expected);
    });
  }

  const failures: readonly (readonly [string, string])[] = [
    ['{{ call .double }}', 'error calling call: wrong number of args for .double: got 0 want 1'],
    ['{{ call .join }}', 'error calling call: wrong number of args for .join: got 0 want at least 1'],
    ['{{ call .double "a" }}', 'error calling call: arg 0: value has type string; should be int'],
    ['{{ call .double nil }}', 'error calling call: arg 0: value is nil; should be of type int'],
    [
      '{{ call .double .join }}',
      'error calling call: arg 0: value has type func(string, ...interface {}); should be int',
    ],
    ['{{ 1.5 | call }}', 'error calling call: non-function value of type float64'],
    ['{{ eq .double .double }}', 'error calling eq: non-comparable type '],
    ['{{ range .double }}{{ end }}', "range can't iterate over 0xc000012000"],
    ['{{ printf "%s" .double | len | index .double }}', "error calling index: can't index item of type func(int)"],
    ['{{ index .double 1 }}', "error calling index: can't index item of type func(int)"],
  ];
  for (const [template, reason] of failures) {
    it(`fail as in Go: ${template}`, () => {
      const hasReason = (error: TemplateError) => error.reason.startsWith(reason);
      assert.throws(() => render(template), hasReason);
    });
  }

  it('use their Go type as the type name', () => {
    assert.equal(goFunction([bool, reflected], () => true).typeName, 'func(bool, reflect.Value)');
    assert.equal(typeName(protoMessageType), 'protoreflect.ProtoMessage');
  });
});
