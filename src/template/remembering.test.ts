import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ExecutionLimits } from './exec/execution.ts';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { goFunction } from './functions/go/go-function.ts';
import { int64Type, pointerTo, stringMapType, type StructType } from './go-type.ts';
import { any } from './exec/parameters.ts';
import { compileTemplate, type Template, type TemplateOptions } from './template.ts';
import { TemplateError } from './template-error.ts';
import { property, typed } from './typed-value.ts';
import { garage } from './testdata/garage-type.ts';
import { readGoResults, steady } from './testdata/go-results.ts';

/** The number of times that templates called `seen`. */
let calls = 0;
const functions = {
  ...functionsOfFamily('istio'),
  seen: goFunction([any], (value) => {
    calls += 1;
    return value;
  }),
};

/** Returns the output, or the error's message. */
function outcome(template: Template, data: unknown, limits?: ExecutionLimits): string {
  try {
    return steady(template.execute(data, limits));
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

function compile(text: string, options: Partial<TemplateOptions> = {}): Template {
  return compileTemplate(text, { name: 't', functions, ...options });
}

describe('remembered output', () => {
  it('equals the output of a new execution for rows of the table, after any previous data', () => {
    const { documents, rows } = readGoResults();
    const [whole, empty] = [documents['garage'], documents['garage-empty']];
    // Every fifth row is enough: the table has several rows for each function.
    for (const [index, row] of rows.entries()) {
      if (index % 5 !== 0) continue;
      const options = {
        functions: functionsOfFamily(row.functions),
        ...(row.delimiters === undefined ? {} : { delimiters: row.delimiters }),
        ...(row.missingKey === undefined ? {} : { missingKey: row.missingKey }),
      };
      const wrap = (data: unknown): unknown => (row.document.startsWith('garage') ? garage(data) : data);
      const own = documents[row.document];
      const others = row.document.startsWith('garage') ? [whole, empty] : [{}, { ...(own as object), word: 'changed' }];
      let plain: Template;
      try {
        plain = compile(row.template, options);
      } catch {
        continue;
      }
      const stableFields = [[], Object.keys(own ?? {}), ['Labels', 'Owner', 'Doors']][(index / 5) % 3] ?? [];
      const remembered = compile(row.template, { ...options, stableFields });
      for (const data of [own, own, ...others, own]) {
        const copies = [structuredClone(data), structuredClone(data)];
        assert.equal(outcome(remembered, wrap(copies[0])), outcome(plain, wrap(copies[1])), row.template);
      }
    }
  }).timeout(60_000);

  /** Asserts each output and the total calls of `seen`. The only stable field is `stable`. */
  function notices(title: string, text: string, expected: number, data: readonly unknown[]): void {
    it(`notices a change in ${title}`, () => {
      const remembered = compile(text, { stableFields: ['stable'] });
      calls = 0;
      const outputs = data.map((one) => outcome(remembered, structuredClone(one)));
      assert.equal(calls, expected);
      const expectedOutputs = data.map((one) => outcome(compile(text), structuredClone(one)));
      assert.deepEqual(outputs, expectedOutputs);
    });
  }

  notices('a scalar', '{{ seen .a }}', 3, [{ a: 1 }, { a: 1 }, { a: '1' }, { a: 1 }]);
  notices('the presence of a key', '{{ seen .a }}', 2, [{ a: null }, {}, { a: null }]);
  notices('a list, which may change in place', '{{ seen .a }}', 2, [{ a: [1] }, { a: [1] }]);
  notices('the object in a stable field', '{{ seen .stable.x }}', 2, [{ stable: { x: 1 } }, { stable: { x: 2 } }]);
  notices('a key that index reads', '{{ seen (index .m "k") }}', 2, [
    { m: { k: 1, o: 1 } },
    { m: { k: 1 } },
    { m: {} },
  ]);
  notices('a key without a map', '{{ seen (index .m "k") }}', 1, [{ m: {} }, { m: 'text' }, { m: [1] }, {}, { m: {} }]);
  notices('a nested key of a map', '{{ seen (index .m "k" "l") }}', 2, [
    { m: { k: { l: 1 } } },
    { m: { k: { l: 2 } } },
  ]);
  notices('a key that is computed', '{{ seen (index .m .k) }}', 2, [
    { m: { a: 1 }, k: 'a' },
    { m: { a: 2 }, k: 'a' },
  ]);
  notices('a variable', '{{ $x := .a }}{{ seen $x }}', 2, [{ a: 1 }, { a: 1 }, { a: 2 }]);
  notices('a variable that is set again', '{{ $x := 1 }}{{ if .a }}{{ $x = .b }}{{ end }}{{ seen $x }}', 2, [
    {},
    { a: 1, b: 2 },
  ]);
  notices('a variable of the same name', '{{ $x := .a }}{{ with .b }}{{ $x := . }}{{ seen $x }}{{ end }}', 2, [
    { a: 1, b: 2 },
    { a: 1, b: 3 },
    { a: 2, b: 3 },
  ]);
  notices('the dot of a with', '{{ with .a }}{{ seen .b }}{{ else }}{{ seen .c }}{{ end }}', 3, [
    { a: { b: 1 } },
    { a: { b: 2 } },
    { c: 3 },
  ]);
  notices('the data inside a with', '{{ with .a }}{{ seen $.b }}{{ end }}', 2, [
    { a: 1, b: 1 },
    { a: 1, b: 2 },
    { a: 1, b: 2 },
  ]);
  notices('the whole data', '{{ seen . }}{{ seen $ }}', 4, [{ a: 1 }, { a: 1 }]);
  notices('the elements of a range', '{{ range .l }}{{ seen . }}{{ end }}', 4, [{ l: [1, 2] }, { l: [1, 3] }]);
  notices('a range over a stable field', '{{ range $k, $v := .stable }}{{ seen $v }}{{ end }}', 2, [
    { stable: { a: 1, b: 2 } },
  ]);
  notices(
    'the end of a range',
    '{{ range $i, $v := .stable }}{{ if $i }}{{ break }}{{ end }}{{ seen $v }}{{ continue }}{{ end }}',
    1,
    [{ stable: [7, 8] }],
  );
  notices(
    'the argument of a template',
    '{{ define "d" }}{{ seen .x }}{{ end }}{{ template "d" . }}{{ template "d" .m }}',
    5,
    [
      { x: 1, m: { x: 2 } },
      { x: 1, m: { x: 3 } },
      { x: 2, m: { x: 3 } },
    ],
  );
  notices('a template call without an argument', '{{ define "d" }}{{ seen $ }}{{ end }}{{ template "d" }}{{ .a }}', 1, [
    { a: 1 },
    { a: 1 },
    { a: 2 },
  ]);
  notices(
    'a recursive template',
    '{{ define "d" }}{{ if . }}{{ seen . }}{{ template "d" }}{{ end }}{{ end }}{{ template "d" .a }}',
    2,
    [{ a: 1 }, { a: 1 }, { a: 2 }],
  );
  notices(
    'a variable that a branch always sets again',
    '{{ $x := "a" }}{{ if .a }}{{ if .b }}{{ $x = .b }}{{ end }}{{ end }}{{ seen $x }}',
    3,
    [{ a: 1, b: 'b' }, { a: 1, b: 'b' }, { a: 1 }],
  );
  notices(
    'a template that calls itself with a part of its data',
    '{{ seen .a }}{{ if .next }}{{ template "t" .next }}{{ end }}',
    3,
    [
      { a: 1, next: { a: 2 } },
      { a: 1, next: { a: 3 } },
    ],
  );
  notices(
    'a template that another template calls with a part of its data',
    '{{ define "other" }}{{ template "t" .next }}{{ end }}{{ seen .a }}{{ with .next }}{{ template "other" $ }}{{ end }}',
    2,
    [{ a: 1, next: { a: 2 } }],
  );
  notices('a variable called $', '{{ $ := .m }}{{ seen (index $.n "k") }}{{ seen $.l }}', 4, [
    { m: { n: { k: 1 }, l: 1 }, n: { k: 3 } },
    { m: { n: { k: 2 }, l: 2 }, n: { k: 3 } },
  ]);
  notices('a variable of a condition', '{{ if $x := .a }}{{ seen $x }}{{ else }}{{ seen .b }}{{ end }}', 3, [
    { a: 1 },
    { a: 2 },
    { a: 2 },
    { b: 1 },
    { a: 2 },
  ]);
  notices(
    'a variable inside a range over a stable field',
    '{{ range $k, $v := .stable }}{{ with $ }}{{ seen $v }}{{ end }}{{ end }}',
    2,
    [{ stable: { a: 1, b: 2 } }],
  );
  notices('the data in a variable', '{{ $d := . }}{{ seen $d.a }}{{ with $d }}{{ seen .b }}{{ end }}', 6, [
    { a: 1, b: 1 },
    { a: 2, b: 1 },
    { a: 2, b: 2 },
  ]);
  notices('the data in the else branch of a range', '{{ range .l }}{{ . }}{{ else }}{{ seen .a }}{{ end }}', 2, [
    { l: [], a: 1 },
    { l: [], a: 2 },
    { l: [1], a: 2 },
  ]);
  notices('a pipeline that ends in a lookup', '{{ "k" | index .m | seen }}', 2, [{ m: { k: 1 } }, { m: { k: 2 } }]);
  notices(
    'a variable of a called template',
    '{{ define "d" }}{{ $x := .a }}{{ seen $x }}{{ end }}{{ $p := 1 }}{{ template "d" . }}',
    2,
    [{ a: 1 }, { a: 2 }, { a: 2 }],
  );
  notices('the sign of zero', '{{ seen .a }}', 2, [{ a: 0 }, { a: -0 }]);
  notices('a chain of fields', '{{ seen (.m).k }}{{ seen ($.m).k }}', 4, [{ m: { k: 1 } }, { m: { k: 2 } }]);
  notices('a pipeline', '{{ .a | default "d" | seen }}', 3, [{ a: 'x' }, { a: 'x' }, { a: '' }, {}]);
  notices('a map that a function changes', '{{ seen .stable.x }}{{ $d := set .stable "x" 2 }}', 1, [
    { stable: { x: 1 } },
  ]);
  notices('one of several statements', '{{ seen .a }},{{ seen .b }},{{ seen .c }},{{ seen .d }}', 5, [
    { a: 1, b: 1, c: 1, d: 1 },
    { a: 1, b: 1, c: 2, d: 1 },
    { a: 1, b: 1, c: 2, d: 1 },
  ]);

  it('is not used when a function changes the data', () => {
    const changing = compile('{{ seen .stable.x }}{{ $d := set .stable "x" 2 }}', { stableFields: ['stable'] });
    const data = { stable: { x: 1 } };
    assert.deepEqual([outcome(changing, data), outcome(changing, data)], ['1', '2']);
  });

  it('is repeated for the same stable object', () => {
    const stable = { x: [1], set: 'y' };
    const template = compile('{{ range .stable.x }}{{ seen . }}{{ end }}{{ index .stable "set" | seen }}', {
      stableFields: ['stable'],
    });
    calls = 0;
    const outputs = [{ stable }, { stable, other: 1 }].map((data) => template.execute(data));
    assert.deepEqual(outputs, ['1y', '1y']);
    assert.equal(calls, 2);
  });

  it('pauses while executions differ, and resumes when they are equal', () => {
    const template = compile('{{ seen .a }}', { stableFields: [] });
    calls = 0;
    for (const a of [1, 2, 3, 4, ...Array<number>(40).fill(5)]) assert.equal(template.execute({ a }), String(a));
    assert.equal(calls, 18);
  });

  it('survives a later error, and is not used for long texts or many readings', () => {
    const failing = compile('{{ seen .a }}{{ if .a }}{{ fail "no" }}{{ end }}', { stableFields: [] });
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`f${index}`, index]));
    const all = Array.from({ length: 600 }, (_, index) => `{{ seen .f${index} }}`).join('');
    for (const [template, data, expected] of [
      [failing, { a: 1 }, 1],
      [compile('{{ if seen .a }}{{ fail "no" }}{{ end }}', { stableFields: [] }), { a: 1 }, 3],
      [compile('{{ seen .a }}', { stableFields: [] }), { a: 'x'.repeat(70_000) }, 3],
      [compile(`{{ if true }}${all}{{ end }}`, { stableFields: [] }), many, 600],
    ] as const) {
      calls = 0;
      for (let time = 0; time < 3; time += 1) outcome(template, data);
      assert.equal(calls, expected);
    }
  });

  it('supports typed data', () => {
    const type: StructType = {
      kind: 'struct',
      name: 'T',
      fields: [
        { name: 'Count', json: 'count', type: int64Type },
        { name: 'Labels', json: 'labels', type: stringMapType },
        {
          name: 'Next',
          json: 'next',
          type: {
            kind: 'pointer',
            get element() {
              return type;
            },
          },
        },
      ],
      methods: { Twice: { result: int64Type, call: (raw) => 2 * Number(property(raw, 'count')) } },
    };
    const pointer = pointerTo(type);
    const labels = { a: 'x' };
    const list = [
      { count: 1, labels },
      { count: 1, labels, next: { count: 3, labels } },
      { count: 1, labels, next: { count: 3, labels: { a: 'y' } } },
      { count: 2, labels: { b: 'z' }, next: { count: 4 } },
      { count: 2, labels: null, next: { count: 4, labels: { a: 'y' } } },
    ].flatMap((data) => [typed(pointer, data), typed(type, data)]);
    for (const [text, expected] of [
      ['{{ seen .Count }}', 10],
      ['{{ seen (index .Labels "a") }}', 10],
      ['{{ seen .Next.Count }}', 8],
      ['{{ seen (index .Next.Labels "a") }}', 8],
      ['{{ seen .Twice }}', 10],
      ['{{ seen .Labels.a }}', 10],
    ] as const) {
      for (const stableFields of [['Count', 'Labels'], []]) {
        calls = 0;
        const template = compile(text, { stableFields });
        const outputs = list.map((data) => outcome(template, data));
        assert.ok(calls <= expected, `${text}: ${calls}`);
        const plain = list.map((data) => outcome(compile(text), data));
        assert.deepEqual(outputs, plain);
      }
    }
    const ofType = compile('{{ printf "%T" .Count }}', { stableFields: [] });
    const types = [typed(type, { count: 1 }), { Count: 1 }].map((data) => outcome(ofType, data));
    assert.deepEqual(types, ['int64', 'float64']);
    calls = 0;
    const counting = compile('{{ seen .Count }}{{ seen (index .Next.Labels "a") }}', { stableFields: ['Count'] });
    for (let time = 0; time < 3; time += 1)
      counting.execute(typed(pointer, { count: 5, next: { labels: { a: 'b' } } }));
    assert.equal(calls, 2);
  });

  it('counts towards the limits at its original cost', () => {
    const stable = Array.from({ length: 100 }, (_, index) => index);
    const text = 'a{{ range .stable }}{{ . }}{{ end }}{{ .b }}';
    const template = compile(text, { stableFields: ['stable'] });
    template.execute({ stable, b: 1 });
    for (const limits of [{ steps: 201 }, { steps: 203 }, ...[50, 192, 193].map((outputBytes) => ({ outputBytes }))]) {
      const data = { stable, b: 2 };
      assert.equal(outcome(template, data, limits), outcome(compile(text), data, limits));
    }
  });

  it('equals the output of a new execution for any sequence of data', () => {
    const text = [
      '{{ define "part" }}{{ .s.x | default "none" }}{{ range .l }}{{ . }},{{ end }}{{ end }}',
      '{{ $a := index .m "a" }}{{ if eq .t "x" }}A{{ $a }}{{ else if .f }}B{{ .f }}{{ end }}',
      'text {{ template "part" . }} {{ with .s.y }}{{ . }}{{ $.t }}{{ end }} {{ index .m "b" | default .t | quote }}',
      '{{ range $k, $v := .m }}{{ $k }}={{ $v }}{{ end }}{{ .s.x }}{{ .t }}{{ len .l }}',
    ].join('\n');
    const scalar = fc.constantFrom('x', 'y', '', 0, 1, true, false, null);
    const stables = [{ x: 1, y: 'why' }, { x: '' }, { y: 0 }];
    const data = fc.record({
      s: fc.constantFrom(...stables),
      t: fc.constantFrom('x', 'y', ''),
      f: scalar,
      l: fc.array(scalar, { maxLength: 2 }),
      m: fc.dictionary(fc.constantFrom('a', 'b', 'c'), scalar),
    });
    const plain = compile(text);
    fc.assert(
      fc.property(fc.array(data, { minLength: 2, maxLength: 12 }), (list) => {
        const remembered = compile(text, { stableFields: ['s'] });
        for (const one of list) assert.equal(outcome(remembered, one), outcome(plain, one));
      }),
      { numRuns: 300 },
    );
  });
});
