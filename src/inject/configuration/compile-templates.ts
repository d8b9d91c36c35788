import { ConfigurationError } from '../../api/errors.ts';
import type { ExecutionLimits } from '../../template/exec/execution.ts';
import type { Steps } from '../../template/steps.ts';
import { compileTemplateInSteps, type Template } from '../../template/template.ts';
import { TemplateError } from '../../template/template-error.ts';
import type { TemplateSet } from '../render/run-templates.ts';
import { stableDataFields } from '../template-data/template-data.ts';
import { TemplateOutputs } from '../render/template-outputs.ts';
import type { InjectorConfigText } from './parse-injector-config.ts';
import { functionsOfFamily } from '../../template/functions/go/function-families.ts';

/** Calls of sprig's functions that change the map they are given. */
const dataChange = /\b(?:set|unset|(?:mustM|m)erge(?:Overwrite)?)\s+[.$(]/;

/** Compiles the templates of a config that `find` does not know. @throws ConfigurationError naming template, line and column */
export function* compileTemplates(
  config: InjectorConfigText,
  delimiters: readonly [string, string],
  limits: ExecutionLimits,
  find: (text: string) => Template | undefined = () => undefined,
): Steps<TemplateSet> {
  const byName = new Map<string, Template>();
  const changesData = [...config.templates.values()].some((text) => dataChange.test(text));
  for (const [name, text] of config.templates) {
    yield;
    byName.set(name, find(text) ?? (yield* compileOne(name, text, config.legacy, delimiters)));
  }
  return { byName, legacy: config.legacy, limits, outputs: new TemplateOutputs(), changesData };
}

function* compileOne(
  name: string,
  text: string,
  legacy: boolean,
  delimiters: readonly [string, string],
): Steps<Template> {
  try {
    // Istio compiles every template under the name `inject`; its errors at run time carry it.
    const options = {
      name: 'inject',
      delimiters,
      functions: functionsOfFamily('istio'),
      stableFields: stableDataFields,
    };
    return yield* compileTemplateInSteps(text, options);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const field = legacy ? 'config.template' : `config.templates.${name}`;
    const { line, column } = error.position;
    const place = `${field}: line ${line}, column ${column + 1}`;
    const [, ...shown] = error.caret().split('\n');
    throw new ConfigurationError(field, [`${place}: ${error.reason}`, ...shown].join('\n'), { cause: error });
  }
}
