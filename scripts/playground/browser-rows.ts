import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { inject } from '../../src/inject/inject.ts';
import type { InjectionRequest } from '../../src/inject/injection-request.ts';
import { loadInjector } from '../../src/inject/injector.ts';
import { type FunctionFamily, functionsOfFamily } from '../../src/template/functions/go/function-families.ts';
import { compileTemplate } from '../../src/template/template.ts';
import { TemplateError } from '../../src/template/template-error.ts';

/** Pods for one configuration. */
export interface PodRows {
  readonly files: ConfigurationFiles;
  readonly requests: readonly InjectionRequest[];
}

export interface TemplateRow {
  readonly template: string;
  readonly data: unknown;
  readonly functions: FunctionFamily;
  readonly delimiters?: readonly [string, string];
}

/** Returns the whole result for each pod as JSON. Node and the browser both call this function. */
export function podAnswers({ files, requests }: PodRows): string[] {
  const injector = loadInjector(files);
  return requests.map((request) => JSON.stringify(inject(injector, request)));
}

/** Returns the output or the error of each template. */
export function templateAnswers(rows: readonly TemplateRow[]): string[] {
  return rows.map(({ template, data, functions, delimiters }) => {
    try {
      const options = { name: 't', functions: functionsOfFamily(functions), ...(delimiters && { delimiters }) };
      return compileTemplate(template, options).execute(structuredClone(data));
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return `error: ${error.message}`;
    }
  });
}
