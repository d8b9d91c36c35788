import type { ExecutionLimits } from './exec/execution.ts';
import type { FunctionTable } from './functions/go/go-function.ts';
import { decodeJson } from './functions/go/json-decode.ts';
import { omittedFunctions } from './functions/sprig/omitted-functions.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { property } from './typed-value.ts';

/** A template and its data, decoded as Go decodes into `interface {}`. */
export interface BatchRow {
  readonly template: string;
  readonly data: unknown;
}

/** What became of a row. */
export type BatchResult = { readonly out: string } | { readonly error: string };

/** How to render, whatever the row. */
export interface RenderOptions {
  /** Shown in errors. */
  readonly name: string;
  readonly functions: FunctionTable;
  readonly delimiters?: readonly [string, string];
  readonly limits?: ExecutionLimits;
}

/** Compiles and executes a template once. Errors are data. */
export function render({ template, data }: BatchRow, options: RenderOptions): BatchResult {
  try {
    return {
      out: compileTemplate(template, { ...options, unavailable: omittedFunctions }).execute(data, options.limits),
    };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    throw error;
  }
}

/**
 * Renders a JSON array of `{"template": …, "data": …}` and gives the JSON array of `{"out": …}` or `{"error": …}`, in the same order.
 *
 * @throws Error when the text is no such array; it names the row.
 */
export function renderBatch(json: string, options: RenderOptions): string {
  return JSON.stringify(parseRows(json).map((row) => render(row, options)));
}

function parseRows(json: string): BatchRow[] {
  const rows = decodeJson(json);
  if (!Array.isArray(rows)) throw new Error('the batch must be a JSON array of {"template": …, "data": …}');
  return rows.map((row: unknown, index) => {
    const template = property(row, 'template');
    if (typeof template !== 'string') throw new Error(`row ${index} of the batch: "template" must be a string`);
    return { template, data: property(row, 'data') ?? null };
  });
}
