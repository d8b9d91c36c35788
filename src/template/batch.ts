import type { ExecutionLimits } from './exec/execution.ts';
import { decodeJson } from './functions/go/json-decode.ts';
import { omittedFunctions } from './functions/sprig/omitted-functions.ts';
import { compileTemplate, type TemplateOptions } from './template.ts';
import { TemplateError } from './template-error.ts';
import { property } from './typed-value.ts';

export interface RenderOptions extends Pick<TemplateOptions, 'name' | 'functions' | 'delimiters'> {
  readonly limits?: ExecutionLimits;
}

/** Compiles and executes a template once; returns its output or its TemplateError. */
function render(template: string, data: unknown, options: RenderOptions): { out: string } | { error: string } {
  try {
    const compiled = compileTemplate(template, { ...options, unavailable: omittedFunctions });
    return { out: compiled.execute(data, options.limits) };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    throw error;
  }
}

/**
 * Renders a JSON array of `{"template": …, "data": …}` to a JSON array of `{"out": …}` or
 * `{"error": …}`.
 * @throws Error for any other text, with the number of the invalid row
 */
export function renderBatch(json: string, options: RenderOptions): string {
  const rows = decodeJson(json);
  if (!Array.isArray(rows)) throw new Error('the batch must be a JSON array of {"template": …, "data": …}');
  const templates = rows.map((row: unknown, index) => {
    const template = property(row, 'template');
    if (typeof template !== 'string') throw new Error(`row ${index} of the batch: "template" must be a string`);
    return template;
  });
  return JSON.stringify(templates.map((template, index) => render(template, property(rows[index], 'data'), options)));
}
