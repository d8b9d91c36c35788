import assert from 'node:assert/strict';
import { renderBatch } from './batch.ts';
import { functionFamilies, functionsOfFamily } from './functions/go/function-families.ts';
import { goFunction } from './functions/go/go-function.ts';

describe('a batch', () => {
  const options = { name: 'inject', functions: functionsOfFamily('istio') };

  it('renders each row with the data of that row, and treats numbers as float64', () => {
    const rows = [
      { template: '{{ .n }} {{ .s | quote }}', data: { n: 1000000, s: 'a' } },
      { template: '{{ .x.y }}', data: { x: 1 } },
      { template: '{{ nope }}' },
      { template: '{{ . }}' },
    ];
    assert.deepEqual(JSON.parse(renderBatch(JSON.stringify(rows), options)), [
      { out: '1e+06 "a"' },
      {
        error: 'template: inject:1:5: executing "inject" at <.x.y>: can\'t evaluate field y in type interface {}',
      },
      { error: 'template: inject:1: function "nope" not defined' },
      { out: '<no value>' },
    ]);
  });

  it('applies delimiters and limits', () => {
    const batch = '[{"template": "[[ range 100 ]]x[[ end ]]"}]';
    const [row] = JSON.parse(renderBatch(batch, { ...options, delimiters: ['[[', ']]'], limits: { steps: 5 } })) as {
      error: string;
    }[];
    assert.match(row!.error, /exceeded the limit of 5 steps/);
  });

  it('names the invalid row in the error', () => {
    assert.throws(() => renderBatch('{}', options), /must be a JSON array/);
    const message = /row 1 of the batch: "template" must be a string/;
    assert.throws(() => renderBatch('[{"template": ""}, {"data": 1}]', options), message);
    assert.throws(() => renderBatch('[', options), SyntaxError);
  });

  it('rethrows errors that are not TemplateErrors', () => {
    const broken = { broken: goFunction([], () => 'x') };
    Object.defineProperty(broken.broken, 'parameters', {
      get: () => {
        throw new Error('a defect');
      },
    });
    assert.throws(() => renderBatch('[{"template": "{{ broken }}"}]', { name: 't', functions: broken }), /a defect/);
  });

  it('offers three function families', () => {
    const offered = functionFamilies.map((family) => Object.keys(functionsOfFamily(family)).length > 0);
    assert.deepEqual(offered, [true, true, false]);
  });
});
