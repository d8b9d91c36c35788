import assert from 'node:assert/strict';
import { atOnce } from '../steps/steps.ts';
import { compileTemplate, compileTemplateInSteps } from './template.ts';

const nested = (depth: number): string => `${'{{if .a}}'.repeat(depth)}x${'{{end}}'.repeat(depth)}`;

const texts: [name: string, text: string][] = [
  ['a list', 'a{{.a}}'.repeat(500)],
  ['an {{if}} around everything', `{{if .a}}${'a{{.a}}'.repeat(500)}{{else}}${'b{{.b}}'.repeat(500)}{{end}}`],
  ['an {{else if}}', `{{if .b}}{{else if .a}}${'a{{.a}}'.repeat(500)}{{end}}`],
  ['a {{range}}', `{{range .list}}${'a{{.}}'.repeat(500)}{{end}}`],
  ['a definition', `{{define "d"}}${'a{{.a}}'.repeat(500)}{{end}}{{template "d" .}}`],
  ['a block', `{{block "d" .}}${'a{{.a}}'.repeat(500)}{{end}}`],
  ['many small branches', '{{with .a}}{{.}}{{end}}'.repeat(300)],
  ['deep nesting', nested(399)],
];

describe('compileTemplateInSteps', () => {
  for (const [name, text] of texts) {
    it(`yields often in ${name}, and returns the same result`, () => {
      const steps = compileTemplateInSteps(text, { name: 't' });
      let count = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) count += 1;
      assert.ok(count > 20, `${count} steps`);
      const data = { a: 1, b: '', list: [1, 2] };
      assert.equal(step.value.execute(data), compileTemplate(text, { name: 't' }).execute(data));
    });
  }

  it('has the same nesting limit, and reports when the limit is reached', () => {
    assert.throws(() => atOnce(compileTemplateInSteps(nested(401), { name: 't' })), /max expression depth exceeded/);
  });
});
