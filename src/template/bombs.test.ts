import assert from 'node:assert/strict';
import { functionsOfFamily } from './function-families.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { bombs } from './testdata/bombs.ts';

const functions = functionsOfFamily('istio');
/** What the server's main thread allows. */
const work = 4_000_000;

describe('templates that would take for ever, or all memory', () => {
  for (const [name, text] of Object.entries(bombs)) {
    it(`end by a limit: ${name}`, () => {
      const template = compileTemplate(text, { name: 't', functions });
      assert.throws(
        () => template.execute({}, { work }),
        (error) => error instanceof TemplateError && error.kind === 'limit',
      );
    });
  }
});
