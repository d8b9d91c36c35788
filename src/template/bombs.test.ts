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
      const isLimit = (error: unknown) => error instanceof TemplateError && error.kind === 'limit';
      assert.throws(() => template.execute({}, { work }), isLimit);
    });
  }

  it('leave a small heap alive, with the bounds of an execution that has none of its own', () => {
    const program = fileURLToPath(new URL('testdata/explode.ts', import.meta.url));
    const options = ['--max-old-space-size=256', ...process.execArgv];
    const { status, stderr } = spawnSync(process.execPath, [...options, program, ...largest], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  });
});

const numbers = Array.from({ length: 12_000 }, (_, index) => index);

const refused: readonly (readonly [name: string, text: string, reason: RegExp])[] = [
  ['a number of many digits', `{{ ${'1'.repeat(900_000)} }}`, /number constant of more than 1000 characters/],
  ['an exponent of many digits', `{{ 1e${'1'.repeat(900_000)} }}`, /number constant of more than 1000 characters/],
  ['a number beyond all bounds', '{{ 1e1000000 }}', /illegal number syntax/],
  ['many variables', numbers.map((index) => `{{ $v${index} := 1 }}`).join(''), /more than 250 variables/],
  ['many operands', `{{ print ${'1 '.repeat(12_000)} }}`, /more than 10000 operands/],
  ['many fields', `{{ ${'.a'.repeat(400_000)} }}`, /more than 1000 fields/],
  ['many parentheses', `{{ ${'('.repeat(400_000)}`, /max expression depth exceeded/],
  ['many branches', '{{ if .a }}'.repeat(80_000), /max expression depth exceeded/],
  ['a long function', `{{ ${'a'.repeat(900_000)} }}`, /function "a+" not defined$/],
];

describe('compiling', () => {
  for (const [name, text, reason] of refused) {
    it(`refuses ${name}`, () => {
      const compile = (): unknown => compileTemplate(text, { name: 't', functions, stableFields: ['Values'] });
      assert.throws(compile, { name: 'TemplateError', kind: 'syntax', reason });
    });
  }

  it('takes calls in each other, in the time of the text', () => {
    const nested = `{{ ${'print ('.repeat(100)}1${')'.repeat(100)} }}`;
    assert.equal(compileTemplate(nested, { name: 't' }).execute({}), '1');
  });
});
