import assert from 'node:assert/strict';
import { parseTemplate } from '../../template/parse/parser.ts';
import { SourceText } from '../../template/parse/source-text.ts';
import { atOnce } from '../../template/steps.ts';
import { templateReads } from './template-reads.ts';

describe('templateReads of a template that calls itself for many fields', () => {
  it('is that it reads everything', () => {
    const fields = ['A', 'B', 'C', 'D', 'E', 'F'];
    const calls = fields.map((field) => `{{ template "r" .${field} }}`).join('');
    const text = `{{ define "r" }}${calls}{{ . }}{{ end }}{{ template "r" . }}`;
    const trees = atOnce(
      parseTemplate(new SourceText('t', text), {
        delimiters: ['{{', '}}'],
        isFunction: () => false,
        functionNames: () => [],
        unavailable: {},
      }),
    );
    const { printed, steering, parsed } = atOnce(templateReads(trees, 't', () => false));
    assert.deepEqual([printed, steering, parsed], [new Set(['=']), new Set(['=']), new Set(['='])]);
  });
});
