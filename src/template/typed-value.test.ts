import assert from 'node:assert/strict';
import { functionsOfFamily } from './functions/go/function-families.ts';
import {
  anyMapType,
  anyType,
  boolType,
  float64Type,
  int32Type,
  int64Type,
  intType,
  mapOf,
  pointerTo,
  sliceOf,
  stringMapType,
  stringSliceType,
  stringType,
  uint32Type,
} from './go-type.ts';
import type { GoType, StructType } from './go-type.ts';
import { GoFunction } from './functions/go/go-function.ts';
import { compileTemplate } from './template.ts';
import { typed, type TypedValue } from './typed-value.ts';
import { garage } from './testdata/garage-type.ts';

const functions = functionsOfFamily('istio');

function render(template: string, data: unknown): string {
  return compileTemplate(template, { name: 't', functions }).execute(data);
}

function failing(template: string, data: unknown, reason: string): void {
  assert.throws(() => render(template, data), { name: 'TemplateError', reason });
}

/** Makes a struct with fields of the given types, named F0, F1 … and in JSON f0, f1 … */
function struct(...types: readonly GoType[]): StructType {
  const fields = types.map((type, index) => ({ name: `F${index}`, json: `f${index}`, type }));
  return { kind: 'struct', name: 'test.Struct', fields };
}

describe('typed values', () => {
  it('have the zero values of their types when the JSON has no value', () => {
    const type = struct(
      stringType,
      boolType,
      float64Type,
      intType,
      int64Type,
      stringSliceType,
      stringMapType,
      anyType,
      pointerTo(stringType),
      struct(intType),
    );
    const expected = ' false 0 0 0 [] map[] <nil> <nil> {0}'.trim();
    for (const raw of [{}, { f0: null, f1: null, f2: null, f5: null, f8: null, f9: null }]) {
      assert.equal(render('{{ print .F0 .F1 " " .F2 .F3 .F4 .F5 .F6 .F7 .F8 .F9 }}', typed(type, raw)), expected);
    }
  });

  it('accept integers from numbers, decimal strings and bigints', () => {
    const type = struct(int64Type, int64Type, uint32Type);
    const data = typed(type, { f0: '9007199254740993', f1: 9007199254740993n, f2: 7 });
    const rendered = render('{{ .F0 }} {{ .F1 }} {{ .F2 }} {{ eq .F0 .F1 }}', data);
    assert.equal(rendered, '9007199254740993 9007199254740993 7 true');
  });

  it('decode JSON that differs from the fields, and encode it unchanged', () => {
    const duration: StructType = {
      kind: 'struct',
      name: 'test.Duration',
      fields: [{ name: 'Seconds', json: 'seconds', type: int64Type }],
      decode: (raw) => ({ seconds: String(raw).replace('s', '') }),
      toJson: (raw) => JSON.stringify(raw),
    };
    const level: GoType = { kind: 'int32', decode: (raw) => (raw === 'HIGH' ? 2 : 0) };
    const data = typed(struct(pointerTo(duration), level), { f0: '90s', f1: 'HIGH' });
    assert.equal(render('{{ .F0.Seconds }} {{ toJson .F0 }} {{ .F0 }} {{ eq .F1 2 }}', data), '90 "90s" {90} true');
  });

  it('follow pointers to plain maps', () => {
    const data = typed(struct(pointerTo(anyMapType), pointerTo(anyMapType)), { f0: { a: { b: 1 } } });
    assert.equal(render('{{ .F0.a.b }}{{ range $k, $v := .F0 }}{{ $k }}{{ end }}{{ len .F0 }}', data), '1a1');
    failing('{{ .F1.a }}', data, 'nil pointer evaluating *map[string]interface {}.a');
    assert.throws(() => compileTemplate('{{ slice .F1 }}', { name: 't' }).execute(data), {
      reason: 'error calling slice: slice of nil pointer',
    });
  });

  it('are dereferenced or addressed to match a parameter', () => {
    const takes = (type: GoType): GoFunction =>
      new GoFunction([type], undefined, (value) => (value as TypedValue).type.kind);
    const inner = struct(intType);
    const data = typed(pointerTo({ ...struct(inner, pointerTo(inner), pointerTo(inner)), name: 'test.Outer' }), {
      f0: {},
      f1: {},
    });
    const own = { value: takes(inner), pointer: takes(pointerTo(inner)) };
    const run = (template: string): string => compileTemplate(template, { name: 't', functions: own }).execute(data);
    const kinds = run('{{ value .F0 }} {{ value .F1 }} {{ pointer .F0 }} {{ pointer .F1 }}');
    assert.equal(kinds, 'struct struct pointer pointer');
    assert.throws(() => run('{{ value .F2 }}'), { reason: 'dereference of nil pointer of type *test.Struct' });
    assert.throws(() => run('{{ pointer . }}'), {
      reason: 'wrong type for value; expected *test.Struct; got *test.Outer',
    });
    assert.throws(() => run('{{ value 1 }}'), { reason: "can't handle 1 for arg of type test.Struct" });
  });

  it('are assignable to named and unnamed types of the same shape', () => {
    const labels: GoType = { kind: 'map', name: 'test.Labels', key: stringType, element: stringType };
    const words: GoType = { kind: 'slice', name: 'test.Words', element: stringType };
    const takesWords = new GoFunction([stringSliceType], undefined, (value) => (value as TypedValue).type.kind);
    const data = typed(struct(labels, words, stringMapType), { f0: { a: 'b' }, f1: ['x'], f2: { c: 'd' } });
    assert.equal(render('{{ toJSON .F0 }}{{ printf "%T %T" .F0 .F1 }}', data), '{"a":"b"}test.Labels test.Words');
    const takesLabels = new GoFunction([labels], undefined, () => 'fits');
    const own = { words: takesWords, labels: takesLabels };
    const template = compileTemplate('{{ words .F1 }}{{ labels .F2 }}', { name: 't', functions: own });
    assert.equal(template.execute(data), 'slicefits');
    failing('{{ toJSON .F1 }}', data, 'wrong type for value; expected map[string]string; got test.Words');
  });

  it('convert constants to the integer types of a method', () => {
    const type: StructType = {
      ...struct(),
      methods: {
        Sum: {
          parameters: [int32Type, uint32Type],
          result: stringType,
          call: (_raw, a, b) =>
            JSON.stringify([a, b], (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
        },
        None: { result: anyType, call: () => null },
        Broken: {
          result: stringType,
          call: () => {
            throw new RangeError('Maximum call stack size exceeded');
          },
        },
      },
    };
    const data = typed(pointerTo(type), {});
    assert.equal(render('{{ .Sum 1 2 }}', data), '[{"kind":"int32","value":1},{"kind":"uint32","value":2}]');
    assert.equal(render('{{ .None }}{{ (.None).x }}', data), '<no value><no value>');
    failing('{{ .None.x }}', data, 'nil pointer evaluating interface {}.x');
    failing('{{ .Sum 1 "a" }}', data, 'expected integer; found "a"');
    failing('{{ .Sum 1 }}', data, 'wrong number of args for Sum: want 2 got 1');
    failing('{{ .Broken }}', data, 'exceeded the depth of the stack');
  });

  it('are compared by their fields when all fields are comparable', () => {
    const inner = struct(intType, stringType);
    const type = { ...struct(inner, int32Type, pointerTo(inner), inner), name: 'test.Outer' };
    const shared = { f0: 9 };
    const list = sliceOf(type);
    const data = typed(struct(list, list), {
      f0: [
        { f0: { f0: 1, f1: 'a' }, f1: 5, f2: shared },
        { f0: { f0: 1, f1: 'a' }, f1: 5, f2: shared },
        { f0: { f0: 1, f1: 'a' }, f1: 6, f2: shared },
        { f0: { f0: 2, f1: 'a' }, f1: 5, f2: shared },
        { f0: { f0: 1, f1: 'a' }, f1: 5, f2: { f0: 9 } },
      ],
    });
    const same = render('{{ $a := index .F0 0 }}{{ range .F0 }}{{ eq . $a }} {{ end }}', data);
    assert.equal(same, 'true true false false false ');
    const deeplyEqual = '{{ $a := index .F0 0 }}{{ eq $a.F2 (index .F0 4).F2 }}{{ deepEqual $a (index .F0 4) }}';
    assert.equal(render(deeplyEqual, data), 'falsetrue');
    assert.throws(() => render('{{ eq . . }}', data), {
      reason: /^error calling eq: non-comparable type .*: test\.Struct$/,
    });
  });

  it('omit empty or zero fields from JSON', () => {
    const inner = struct(intType);
    const type: StructType = {
      kind: 'struct',
      name: 'test.Omitting',
      fields: [
        { name: 'A', json: 'a', type: inner, omitZero: true },
        { name: 'B', json: 'b', type: intType, omitZero: true },
        { name: 'C', json: 'c', type: stringSliceType, omitEmpty: true },
        { name: 'D', json: 'd', type: stringSliceType },
        { name: 'E', json: 'e', type: mapOf(intType) },
      ],
    };
    assert.equal(render('{{ toJson . }}', typed(type, {})), '{"d":null,"e":null}');
    const full = { a: {}, b: 1, c: ['x'], d: [], e: { k: 2 } };
    assert.equal(render('{{ toJson . }}', typed(type, full)), '{"a":{"f0":0},"b":1,"c":["x"],"d":[],"e":{"k":2}}');
  });

  it('print <nil> for a nil pointer whose String method needs a value', () => {
    const type: StructType = { ...struct(), methods: { String: { result: stringType, call: () => 'text' } } };
    const data = typed(struct(pointerTo(type), pointerTo(type)), { f1: {} });
    assert.equal(render('{{ .F0 }} {{ .F1 }} {{ print .F0 }} {{ quote .F1 }}', data), '<nil> text <nil> "text"');
  });

  it('are copied including nils', () => {
    assert.equal(render('{{ deepCopy .Notes | toJson }}{{ deepCopy .Labels | toJson }}', garage({})), 'nullnull');
  });

  it('support ranges that end early', () => {
    const data = garage({ number: 9, notes: { a: '1', b: '2' }, values: { x: 1, y: 2 } });
    const loops = ['range .Number', 'range $k, $v := .Notes', 'range .Values', 'range 5'];
    for (const loop of loops) assert.equal(render(`{{ ${loop} }}x{{ break }}{{ end }}`, data), 'x');
  });
});
