import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { mismatches, readGoResults, type Subject } from './testdata/go-results.ts';

/** A deliberate mistake: a replacement in one file. */
interface Mutant {
  readonly title: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const mutants: readonly Mutant[] = [
  {
    title: 'indent of the first line, too',
    file: 'functions/istio/istio-functions.ts',
    from: "return text.replaceAll('\\n', ",
    to: "return ' '.repeat(Number(width)) + text.replaceAll('\\n', ",
  },
  {
    title: 'eq of a float and an integer',
    file: 'functions/go/comparison.ts',
    from: 'throw incompatible(first, second);\n  }',
    to: 'return String(left) === String(right);\n  }',
  },
  {
    title: 'trunc by characters instead of bytes',
    file: 'functions/sprig/text/strings.ts',
    from: 'return BigInt(length) > count ? sliceBytes(text, 0, Number(count)) : text;',
    to: 'return BigInt(length) > count ? text.slice(0, Number(count)) : text;',
  },
  {
    title: 'variables that outlive their scope',
    file: 'exec/compile.ts',
    from: 'execution.unwind(mark);\n      return completion;',
    to: 'return completion;',
  },
  {
    title: 'assignment that declares',
    file: 'exec/compile-pipeline.ts',
    from: 'for (const name of names) execution.variable(name).value = value;',
    to: 'for (const name of names) execution.declare(name, value, undefined);',
  },
  {
    title: 'a trim marker that leaves the text after it alone',
    file: 'parse/lexer.ts',
    from: 'if (trims) this.#skip(trimStart(this.#text, this.#position) - this.#position);',
    to: '',
  },
  {
    title: 'a trim marker that trims spaces but no line breaks',
    file: 'parse/lexer.ts',
    from: "const spaces = ' \\t\\r\\n';",
    to: "const spaces = ' \\t';",
  },
];

describe('deliberate mistakes', () => {
  const source = import.meta.dirname;
  // Below node_modules, so that libraries are found.
  const folder = path.resolve(source, '../../node_modules/.cache', `template-mutants-${process.pid}`);
  const results = readGoResults();

  async function load(name: string, { file, from, to }: Mutant): Promise<Subject> {
    const copy = path.join(folder, name);
    cpSync(source, copy, { recursive: true, filter: (one) => !one.endsWith('.test.ts') && !one.endsWith('.json') });
    const parts = readFileSync(path.join(copy, file), 'utf8').split(from);
    assert.equal(parts.length, 2, `${file} must have the text that the mistake replaces, once`);
    writeFileSync(path.join(copy, file), parts.join(to));
    const files = ['template.ts', 'functions/go/function-families.ts', 'template-error.ts'];
    const modules = files.map((module): Promise<unknown> => import(pathToFileURL(path.join(copy, module)).href));
    return Object.assign({}, ...(await Promise.all(modules))) as Subject;
  }

  after(() => {
    rmSync(folder, { recursive: true });
  });

  for (const [index, mutant] of mutants.entries()) {
    it(`are caught by the table: ${mutant.title}`, async () => {
      const subject = await load(String(index), mutant);
      const plain = results.rows.filter(({ document }) => !document.startsWith('garage'));
      assert.notDeepEqual(mismatches({ ...results, rows: plain }, subject, 1), []);
    });
  }
});
