import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { bombs } from './testdata/bombs.ts';

const functions = functionsOfFamily('istio');
/** The work limit of the server's main thread. */
const work = 4_000_000;

/** The templates that keep most of their results in memory. */
const largest = [
  'a copy of nested dicts',
  'a copy of nested lists',
  'nested dicts, compared',
  'nested dicts as indented JSON',
  'numbers to a million',
  'numbered parts of a text',
];

describe('templates that would run forever or use all memory', () => {
  for (const [name, text] of Object.entries(bombs)) {
    it(`stop at a limit: ${name}`, () => {
      const template = compileTemplate(text, { name: 't', functions });
      const isLimit = (error: unknown) => error instanceof TemplateError && error.kind === 'limit';
      assert.throws(() => template.execute({}, { work }), isLimit);
    });
  }

  it('fit into a small heap with the default limits', () => {
    const program = fileURLToPath(new URL('testdata/explode.ts', import.meta.url));
    const options = ['--max-old-space-size=256', ...process.execArgv];
    const { status, stderr } = spawnSync(process.execPath, [...options, program, ...largest], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  });
});

const numbers = Array.from({ length: 12_000 }, (_, index) => index);

const refused: readonly (readonly [name: string, text: string, reason: RegExp])[] = [
  ['a number with many digits', `{{ ${'1'.repeat(900_000)} }}`, /number constant of more than 1000 characters/],
  ['an exponent with many digits', `{{ 1e${'1'.repeat(900_000)} }}`, /number constant of more than 1000 characters/],
  ['a number beyond the range', '{{ 1e1000000 }}', /illegal number syntax/],
  ['many variables', numbers.map((index) => `{{ $v${index} := 1 }}`).join(''), /more than 250 variables/],
  ['many operands', `{{ print ${'1 '.repeat(12_000)} }}`, /more than 10000 operands/],
  ['many fields', `{{ ${'.a'.repeat(400_000)} }}`, /more than 1000 fields/],
  ['deeply nested parentheses', `{{ ${'('.repeat(400_000)}`, /max expression depth exceeded/],
  ['deeply nested branches', '{{ if .a }}'.repeat(80_000), /max expression depth exceeded/],
  ['a long function name', `{{ ${'a'.repeat(900_000)} }}`, /function "a+" not defined$/],
];

describe('compiling', () => {
  for (const [name, text, reason] of refused) {
    it(`refuses ${name}`, () => {
      const compile = (): unknown => compileTemplate(text, { name: 't', functions, stableFields: ['Values'] });
      assert.throws(compile, { name: 'TemplateError', kind: 'syntax', reason });
    });
  }

  it('accepts nested calls, in time proportional to the text', () => {
    const nested = `{{ ${'print ('.repeat(100)}1${')'.repeat(100)} }}`;
    assert.equal(compileTemplate(nested, { name: 't' }).execute({}), '1');
  });
});
