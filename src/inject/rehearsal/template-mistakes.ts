import { functionsOfFamily } from '../../template/functions/go/function-families.ts';
import { omittedFunctions } from '../../template/functions/sprig/omitted-functions.ts';
import { functionCalls } from '../../template/parse/function-calls.ts';
import { TemplateError } from '../../template/template-error.ts';
import { compileTemplate } from '../../template/template.ts';

/** A reason why a template does not compile. */
export interface TemplateMistake {
  /** Whether the template calls a function that depends on the present time, or is random. */
  readonly isUnrepeatable: boolean;
  readonly message: string;
  /** The line in the template, from 1. */
  readonly line: number;
  /** The column in the line, from 1. */
  readonly column: number;
}

/** Returns all calls of unrepeatable functions; without such calls, the first mistake. */
export function templateMistakes(text: string, delimiters: readonly [string, string]): TemplateMistake[] {
  try {
    const calls = functionCalls(text, delimiters).filter(({ name }) =>
      /time|random/.test(omittedFunctions[name] ?? ''),
    );
    if (calls.length === 0) {
      const functions = functionsOfFamily('istio');
      compileTemplate(text, { name: 'inject', delimiters, functions, unavailable: omittedFunctions });
    }
    return calls.map(({ name, ...place }) => {
      return { isUnrepeatable: true, message: `the function ${name} ${omittedFunctions[name] ?? ''}`, ...place };
    });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { line, column } = error.position;
    return [{ isUnrepeatable: false, message: error.reason, line, column: column + 1 }];
  }
}
