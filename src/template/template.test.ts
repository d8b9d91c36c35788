import assert from 'node:assert/strict';
import fc from 'fast-check';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { goFunction, goVariadic } from './functions/go/go-function.ts';
import { any, integer, reflected, string } from './exec/parameters.ts';
import { compileTemplate } from './template.ts';

const functions = functionsOfFamily('sprig');

function render(template: string, data: unknown = {}): string {
  return compileTemplate(template, { name: 't', functions }).execute(data);
}

describe('compileTemplate', () => {
  it('accepts other delimiters, and replaces empty delimiters with the default', () => {
    const rendered = compileTemplate('[[ .a ]] {{ .a }}', { name: 't', delimiters: ['[[', ']]'] }).execute({ a: 1 });
    assert.equal(rendered, '1 {{ .a }}');
    assert.equal(compileTemplate('{{ .a }}', { name: 't', delimiters: ['', ''] }).execute({ a: 1 }), '1');
  });

  it('lets functions override builtins, and the keywords break and continue', () => {
    const own = {
      len: goFunction([any], () => 'mine'),
      break: goFunction([], () => 'broken'),
      continue: goFunction([], () => 'on'),
      and: goVariadic([], any, (...values) => values.length),
    };
    const template = compileTemplate('{{ len 1 }} {{ range .a }}{{ break }} {{ continue }}{{ end }} {{ and 0 0 }}', {
      name: 't',
      functions: own,
    });
    assert.equal(template.execute({ a: [1] }), 'mine broken on 2');
  });

  it('supports several executions of a template, even nested executions', () => {
    const inner = compileTemplate('{{ $x := .v }}{{ range .l }}{{ $x = print $x . }}{{ end }}{{ $x }}', {
      name: 'inner',
    });
    const outer = compileTemplate('{{ nested 1 }}-{{ nested 2 }}', {
      name: 'outer',
      functions: { nested: goFunction([integer], (value) => inner.execute({ v: Number(value), l: ['a', 'b'] })) },
    });
    assert.equal(inner.execute({ v: 0, l: [] }), '0');
    assert.equal(outer.execute({}), '1ab-2ab');
    assert.equal(outer.execute({}), '1ab-2ab');
  });

  it('does not change its data', () => {
    const data = Object.freeze({ map: Object.freeze({ a: 1 }), list: Object.freeze([3, 1, 2]) });
    assert.equal(
      render('{{ range $k, $v := .map }}{{ $k }}{{ $v }}{{ end }}{{ sortAlpha .list }}{{ append .list 4 }}', data),
      'a1[1 2 3][3 1 2 4]',
    );
    assert.throws(() => render('{{ set .map "b" 1 }}', data), { reason: /error calling set: / });
  });

  it('does not confuse keys with JavaScript properties', () => {
    const data = JSON.parse('{"__proto__": {"a": 1}, "toString": "t"}') as unknown;
    assert.equal(
      render('{{ .__proto__.a }} {{ .toString }} {{ .constructor }} {{ .map.hasOwnProperty }}', data),
      '1 t <no value> <no value>',
    );
    const rendered = render('{{ $d := dict "__proto__" 1 }}{{ $d }} {{ hasKey $d "constructor" }}');
    assert.equal(rendered, 'map[__proto__:1] false');
  });

  it('accepts nil as data', () => {
    assert.equal(render('{{ . }}{{ .a }}{{ if . }}T{{ end }}', null), '<no value><no value>');
  });

  it('applies missingKey to a missing value', () => {
    const strict = compileTemplate('{{ $x := .nul }}{{ $x.y }}', { name: 't', missingKey: 'error' });
    assert.throws(() => strict.execute({ nul: null }), { reason: 'nil data; no entry for key "y"' });
  });

  it('passes unconverted arguments to reflected parameters', () => {
    const kinds = goVariadic([], reflected, (...values) =>
      values.map((value) => (value === undefined ? 'missing' : JSON.stringify(value))).join(),
    );
    const template = compileTemplate('{{ kinds .nope .nul "a" }}', { name: 't', functions: { kinds } });
    assert.equal(template.execute({ nul: null }), 'missing,null,"a"');
  });

  it('converts constants to the types of parameters', () => {
    const take = goFunction([integer, string], (number, text) => `${typeof number} ${text}`);
    const template = compileTemplate('{{ take 1e3 "x" }}', { name: 't', functions: { take } });
    assert.equal(template.execute({}), 'bigint x');
  });

  it('renders text without delimiters unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('{{')),
        (text) => {
          assert.equal(render(text), text);
        },
      ),
    );
  });

  it('restores strings that were quoted, encoded or cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (s, n) => {
        const data = { s };
        assert.equal(render('{{ .s | b64enc | b64dec }}{{ .s | b32enc | b32dec }}', data), s + s);
        assert.equal(render('{{ .s | toJson | fromJson }}', data), s);
        const joined = `{{ print (trunc ${n} .s) (substr ${n} -1 (print .s (repeat ${n} " "))) }}`;
        assert.equal(render(joined, data).trimEnd(), s.trimEnd());
        assert.equal(JSON.parse(render('{{ .s | toJson }}', data)), s);
      }),
    );
  });

  it('ranges over maps in bytewise order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.integer()), (map) => {
        const keys = render('{{ range $k, $v := . }}{{ $k | b64enc }},{{ end }}', map).split(',').slice(0, -1);
        const bytes = Object.keys(map)
          .map((key) => Buffer.from(key))
          .sort((a, b) => Buffer.compare(a, b));
        const sorted = bytes.map((key) => key.toString('base64'));
        assert.deepEqual(keys, sorted);
      }),
    );
  });
});
