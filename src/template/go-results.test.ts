import assert from 'node:assert/strict';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { mismatches, readGoResults, type Subject } from './testdata/go-results.ts';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

describe('recorded results of Go', () => {
  const results = readGoResults();

  it('have at least 3,000 rows, of which more than a fifth fail', () => {
    const failing = results.rows.filter(({ out }) => out === undefined).length;
    assert.ok(results.rows.length >= 3000);
    assert.ok(failing > results.rows.length / 5);
  });

  it('equal our results and failures', () => {
    assert.deepEqual(mismatches(results, { compileTemplate, functionsOfFamily, TemplateError }), []);
  });
});

/** Deliberate mistakes, each a replacement in one file. */
const mutants: readonly (readonly [title: string, file: string, from: string, to: string])[] = [
  [
    'indentation of the first line',
    'functions/istio/istio-functions.ts',
    "return text.replaceAll('\\n', ",
    "return ' '.repeat(Number(width)) + text.replaceAll('\\n', ",
  ],
  [
    'eq of a float and an integer',
    'functions/go/comparison.ts',
    'throw incompatible(first, second);\n  }',
    'return String(left) === String(right);\n  }',
  ],
  [
    'trunc by characters instead of bytes',
    'functions/sprig/text/strings.ts',
    'return BigInt(length) > count ? sliceBytes(text, 0, Number(count)) : text;',
    'return BigInt(length) > count ? text.slice(0, Number(count)) : text;',
  ],
  [
    'variables that outlive their scope',
    'exec/compile.ts',
    'execution.unwind(mark);\n      return completion;',
    'return completion;',
  ],
  [
    'assignment that declares',
    'exec/compile-pipeline.ts',
    'for (const name of names) execution.variable(name).value = value;',
    'for (const name of names) execution.declare(name, value, undefined);',
  ],
  [
    'a trim marker without effect on the following text',
    'parse/lexer.ts',
    'if (trims) this.#skip(trimStart(this.#text, this.#position) - this.#position);',
    '',
  ],
  ['a trim marker that keeps line breaks', 'parse/lexer.ts', "const spaces = ' \\t\\r\\n';", "const spaces = ' \\t';"],
];

describe('deliberate mistakes', () => {
  const source = import.meta.dirname;
  // Below node_modules, so that imports of libraries resolve.
  const folder = path.resolve(source, '../../node_modules/.cache', `template-mutants-${process.pid}`);
  const results = readGoResults();

  async function load(name: string, file: string, from: string, to: string): Promise<Subject> {
    const copy = path.join(folder, name);
    cpSync(source, copy, { recursive: true, filter: (one) => !one.endsWith('.test.ts') && !one.endsWith('.json') });
    cpSync(path.join(source, '../steps'), path.join(folder, 'steps'), { recursive: true });
    const parts = readFileSync(path.join(copy, file), 'utf8').split(from);
    assert.equal(parts.length, 2, `${file} must contain the replaced text exactly once`);
    writeFileSync(path.join(copy, file), parts.join(to));
    const files = ['template.ts', 'functions/go/function-families.ts', 'template-error.ts'];
    const modules = files.map((module): Promise<unknown> => import(pathToFileURL(path.join(copy, module)).href));
    return Object.assign({}, ...(await Promise.all(modules))) as Subject;
  }

  after(() => {
    rmSync(folder, { recursive: true });
  });

  for (const [index, [title, ...mistake]] of mutants.entries()) {
    it(`are caught by the table: ${title}`, async () => {
      const subject = await load(String(index), ...mistake);
      const plain = results.rows.filter(({ document }) => !document.startsWith('garage'));
      assert.notDeepEqual(mismatches({ ...results, rows: plain }, subject, 1), []);
    });
  }
});
