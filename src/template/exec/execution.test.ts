import assert from 'node:assert/strict';
import { functionsOfFamily } from '../functions/go/function-families.ts';
import type { ExecutionLimits } from './execution.ts';
import { goFunction } from '../functions/go/go-function.ts';
import { Meter } from './meter.ts';
import { string } from './parameters.ts';
import { compileTemplate } from '../template.ts';

const functions = {
  ...functionsOfFamily('sprig'),
  nope: goFunction([string], () => {
    throw new RangeError('not in range');
  }),
};

function run(template: string, limits: ExecutionLimits): string {
  return compileTemplate(template, { name: 't', functions }).execute({ text: 'é'.repeat(40) }, limits);
}

function refuses(template: string, limits: ExecutionLimits, reason: string): void {
  assert.throws(() => run(template, limits), { name: 'TemplateError', kind: 'limit', reason });
}

describe('the limits of an execution', () => {
  it('bound the steps of an endless loop', () => {
    refuses('{{ range 1000000000 }}{{ end }}', {}, 'exceeded the limit of 1000000 steps');
    refuses('{{ range 10 }}{{ . }}{{ end }}', { steps: 20 }, 'exceeded the limit of 20 steps');
    assert.equal(run('{{ range 10 }}{{ . }}{{ end }}', { steps: 21 }), '0123456789');
  });

  it('bound the depth of recursive templates', () => {
    const endless = '{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}';
    refuses(endless, {}, 'exceeded maximum template depth (250)');
    refuses(endless, { depth: 7 }, 'exceeded maximum template depth (7)');
    const twice = '{{ define "b" }}b{{ end }}{{ define "a" }}{{ template "b" }}{{ end }}{{ template "a" }}';
    assert.equal(run(twice, { depth: 2 }), 'b');
  });

  it('bound the bytes of the output and not the characters', () => {
    refuses('{{ range 1000 }}text{{ end }}', { outputBytes: 99 }, 'exceeded the limit of 99 bytes of output');
    refuses('{{ .text }}', { outputBytes: 79 }, 'exceeded the limit of 79 bytes of output');
    assert.equal(run('{{ .text }}', { outputBytes: 80 }).length, 40);
  });

  it('report the position, even at the start of the template', () => {
    assert.throws(() => run('\ntext', { outputBytes: 2 }), {
      message: 'template: t:1:0: executing "t" at <\ntext>: exceeded the limit of 2 bytes of output',
    });
  });

  it('bound the results of single functions', () => {
    for (const template of [
      '{{ until 5000000 }}',
      '{{ repeat 1000000000 "ab" }}',
      '{{ indent 1000000 (repeat 1000 "\\n") }}',
    ])
      refuses(template, {}, 'exceeded the limit of 64000000 units of work');
    assert.throws(() => run('{{ nope "a" }}', {}), { kind: 'execution', reason: 'error calling nope: not in range' });
  });

  it('bound the total work of executions that share a meter', () => {
    const meter = new Meter(100);
    assert.equal(run('{{ .text }}', { meter }), 'é'.repeat(40));
    assert.ok(meter.spent > 40);
    refuses('{{ .text }}{{ .text }}', { meter, work: 1_000_000 }, 'exceeded the limit of 100 units of work');
    refuses('{{ 1 }}', { meter }, 'exceeded the limit of 100 units of work');
  });
});
