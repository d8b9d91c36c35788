import { builtins } from './functions/go/builtins.ts';
import { Compiler } from './exec/compile.ts';
import { Execution, type ExecutionLimits, type Program, type Run } from './exec/execution.ts';
import type { FunctionTable, GoFunction } from './functions/go/go-function.ts';
import { toWellFormed } from './go-string.ts';
import { limitOf } from './exec/meter.ts';
import { parseTemplate } from './parse/parser.ts';
import { Readings } from './exec/readings.ts';
import { SourceText } from './parse/source-text.ts';
import { atOnce, type Steps } from '../steps/steps.ts';

export interface TemplateOptions {
  /** The name in errors, by which the template can also call itself. */
  readonly name: string;
  /** The delimiters of actions. Default `{{` and `}}`; an empty delimiter means the default. */
  readonly delimiters?: readonly [string, string];
  /** Functions in addition to Go's builtins; they override builtins of the same name. */
  readonly functions?: FunctionTable;
  /** The reasons why functions are omitted, e.g. `is random`; only errors use the reasons. */
  readonly unavailable?: Readonly<Record<string, string>>;
  /** Go's missingkey option for absent map keys; `default` prints `<no value>`. */
  readonly missingKey?: Program['missingKey'];
  /**
   * Enables remembering: a statement that would read the same data as in the last execution repeats
   * its output. `stableFields` are compared by identity: replace the values of these fields between
   * executions, never change them. Of other fields, only strings, numbers and booleans are
   * compared; a statement that reads other values runs each time.
   */
  readonly stableFields?: readonly string[];
}

/** A compiled template. It supports any number of executions, which do not affect each other. */
export class Template {
  readonly name: string;
  readonly #program: Program;
  readonly #root: Run;

  constructor(program: Program, root: Run) {
    this.name = program.source.name;
    this.#program = program;
    this.#root = root;
  }

  /**
   * Renders the template with `data` (plain JSON or a TypedValue). As in Go, only functions such as
   * `set` change the data.
   * @param name the definition to render, as in Go's ExecuteTemplate
   * @returns the output, with U+FFFD for bytes that are not UTF-8
   * @throws TemplateError of kind `execution` or `limit`
   */
  execute(data: unknown, limits: ExecutionLimits = {}, name = this.name): string {
    const execution = new Execution(this.#program, data ?? undefined, limits);
    const run = name === this.name ? this.#root : this.#program.templates.get(name);
    try {
      if (run === undefined) throw execution.error(`template "${name}" not defined`);
      execution.executing = name;
      run(execution, execution.data);
      return toWellFormed(execution.finish());
    } catch (error) {
      // Printing data that contains itself (`set . "x" .`) would never end.
      const limit = limitOf(error);
      throw limit === undefined ? error : execution.error(limit, 'limit');
    }
  }
}

/** Compiles a template of Go's text/template (1.26). @throws TemplateError of kind `syntax` */
export function compileTemplate(text: string, options: TemplateOptions): Template {
  return atOnce(compileTemplateInSteps(text, options));
}

/** Does the work of {@link compileTemplate} in small steps. */
export function* compileTemplateInSteps(text: string, options: TemplateOptions): Steps<Template> {
  const { functions = {} } = options;
  const has = (name: string): boolean => Object.hasOwn(functions, name);
  const [left, right] = options.delimiters ?? ['', ''];
  const source = new SourceText(options.name, text);
  const trees = yield* parseTemplate(source, {
    delimiters: [left === '' ? '{{' : left, right === '' ? '}}' : right],
    isFunction: (name) => has(name) || Object.hasOwn(builtins, name),
    unavailable: options.unavailable ?? {},
    functionNames: () => [...Object.keys(functions), ...Object.keys(builtins)],
  });
  const readings = options.stableFields === undefined ? undefined : new Readings(options.stableFields);
  const compiler = new Compiler((name) => (has(name) ? functions[name] : builtins[name]) as GoFunction, readings);
  const templates = new Map<string, Run>();
  for (const [name, list] of trees) templates.set(name, yield* compiler.list(list, true));
  const missingKey = options.missingKey ?? 'default';
  const program: Program = { source, missingKey, templates, readings: readings?.list ?? [] };
  return new Template(program, templates.get(options.name) as Run);
}
