import { readFileSync } from 'node:fs';
import type { FunctionTable } from '../functions/go/go-function.ts';
import type { Template, TemplateOptions } from '../template.ts';
import { garage } from './garage-type.ts';

/** A row of go-results.json: `out` is the output of Go's text/template, absent on failure. */
export interface GoRow {
  readonly template: string;
  readonly document: string;
  readonly functions: 'builtin' | 'sprig' | 'istio';
  readonly missingKey?: 'default' | 'zero' | 'error';
  readonly delimiters?: readonly [string, string];
  readonly out?: string;
}

/** The table, recorded by scripts/template-differential.ts --record. */
export interface GoResults {
  readonly documents: Readonly<Record<string, unknown>>;
  readonly rows: readonly GoRow[];
}

/** The exports of src/template, or of a copy, that the replay needs. */
export interface Subject {
  readonly compileTemplate: (text: string, options: TemplateOptions) => Template;
  readonly functionsOfFamily: (family: GoRow['functions']) => FunctionTable;
  /** The error class that every failure must have. */
  readonly TemplateError: abstract new (...args: never[]) => Error;
}

export function readGoResults(): GoResults {
  return JSON.parse(readFileSync(new URL('go-results.json', import.meta.url), 'utf8')) as GoResults;
}

/** Returns the rows whose result differs from Go's, as readable lines; at most `atMost`. */
export function mismatches({ documents, rows }: GoResults, subject: Subject, atMost = Infinity): string[] {
  const tables = {
    builtin: subject.functionsOfFamily('builtin'),
    sprig: subject.functionsOfFamily('sprig'),
    istio: subject.functionsOfFamily('istio'),
  };
  const different: string[] = [];
  for (const row of rows) {
    if (different.length >= atMost) break;
    const actual = render(row, structuredClone(documents[row.document]), tables[row.functions], subject);
    if (actual !== row.out) different.push(`${JSON.stringify(row.template)}: ${String(actual)} instead of ${String(row.out)}`);
  }
  return different;
}

/** Returns the output with normalized addresses; `undefined` when the template fails. */
function render(row: GoRow, data: unknown, functions: FunctionTable, subject: Subject): string | undefined {
  const { delimiters, missingKey } = row;
  const isTyped = row.document.startsWith('garage');
  try {
    const options = { name: 't', functions, ...(delimiters && { delimiters }), ...(missingKey && { missingKey }) };
    const template = subject.compileTemplate(row.template, options);
    const out = template.execute(isTyped ? garage(data) : data);
    return isTyped ? steady(out) : out;
  } catch (error) {
    if (error instanceof subject.TemplateError) return undefined;
    throw error;
  }
}

/** Normalizes memory addresses, which pointers inside typed data print. */
export function steady(text: string): string {
  return text.replace(/0[xX][0-9a-fA-F]{9,13}\b|\b[0-9a-fA-F]{9,12}\b|\b[0-9]{12,}\b/g, 'ADDRESS');
}
