import { readFileSync } from 'node:fs';
import type { FunctionTable } from '../functions/go/go-function.ts';
import type { Template, TemplateOptions } from '../template.ts';
import { garage } from './garage-type.ts';

/** A row of go-results.json: what Go's text/template gave (`out`), or that it failed. */
export interface GoRow {
  readonly template: string;
  readonly document: string;
  readonly functions: 'builtin' | 'sprig' | 'istio';
  readonly missingKey?: 'default' | 'zero' | 'error';
  readonly delimiters?: readonly [string, string];
  readonly out?: string;
}

/** The table that scripts/template-differential.ts --record writes. */
export interface GoResults {
  readonly documents: Readonly<Record<string, unknown>>;
  readonly rows: readonly GoRow[];
}

/** What a copy of src/template must offer to be replayed against the table. */
export interface Subject {
  readonly compileTemplate: (text: string, options: TemplateOptions) => Template;
  readonly functionsOfFamily: (family: GoRow['functions']) => FunctionTable;
  /** The error class that every failure must have. */
  readonly TemplateError: abstract new (...args: never[]) => Error;
}

export function readGoResults(): GoResults {
  return JSON.parse(readFileSync(new URL('go-results.json', import.meta.url), 'utf8')) as GoResults;
}

/** The rows that do not come out as Go's did, as readable lines; `atMost` so many. */
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

/** The output, addresses made alike; `undefined` when the template fails. */
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

/** Addresses in memory are never the same: pointers inside of typed data print as such. */
export function steady(text: string): string {
  return text.replace(/0[xX][0-9a-fA-F]{9,13}\b|\b[0-9a-fA-F]{9,12}\b|\b[0-9]{12,}\b/g, 'ADDRESS');
}
