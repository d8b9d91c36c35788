import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { bombs } from './testdata/bombs.ts';

const functions = functionsOfFamily('istio');
/** What the server's main thread allows. */
const work = 4_000_000;

/** Those that keep most of what they make. */
const largest = [
  'a copy of nested dicts',
  'a copy of nested lists',
  'nested dicts, compared',
  'nested dicts as indented JSON',
  'numbers to a million',
  'numbered parts of a text',
];

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

  it('leave a small heap alive, with the bounds of an execution that has none of its own', () => {
    const program = fileURLToPath(new URL('testdata/explode.ts', import.meta.url));
    const options = ['--max-old-space-size=256', ...process.execArgv];
    const { status, stderr } = spawnSync(process.execPath, [...options, program, ...largest], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  });
});
