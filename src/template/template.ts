import { builtins } from './functions/go/builtins.ts';
import { Compiler } from './exec/compile.ts';
import { Execution, type ExecutionLimits, type Program, type Run } from './exec/execution.ts';
import type { FunctionTable, GoFunction } from './functions/go/go-function.ts';
import { toWellFormed } from './go-string.ts';
import { limitOf } from './exec/meter.ts';
import { parseTemplate } from './parse/parser.ts';
import { Readings } from './exec/readings.ts';
import { SourceText } from './parse/source-text.ts';
import { atOnce, type Steps } from './steps.ts';

export interface TemplateOptions {
  /** Shown in errors; also the name under which the template can call itself. */
  readonly name: string;
  /** What encloses actions. Default `{{` and `}}`; an empty one stands for its default. */
  readonly delimiters?: readonly [string, string];
  /** Functions besides Go's builtins, which a function of the same name replaces. */
  readonly functions?: FunctionTable;
  /** Functions that are left out of `functions` on purpose, each with the reason: `is random`. For errors only. */
  readonly unavailable?: Readonly<Record<string, string>>;
  /** Go's missingkey option: what an absent key of a map is. Default `default`: no value, printed `<no value>`. */
  readonly missingKey?: Program['missingKey'];
  /**
   * Turns remembering on: statements write what they wrote in the last execution when what they read of the data is
   * the same. These fields are compared by identity: their values are replaced between executions, never changed. Of
   * others only strings, numbers and booleans are compared; what reads more of them is executed each time.
   */
  readonly stableFields?: readonly string[];
}

/** A compiled template. Any number of executions may use it: what they find out for each other never shows. */
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
   * Renders the template over `data` (plain JSON, or a TypedValue), which only functions such as `set` change, as in Go.
   * @param name Of a template that the text defines, to render that, as Go's ExecuteTemplate does.
   * @returns The output; bytes that are not UTF-8 are U+FFFD.
   * @throws TemplateError of kind `execution` or `limit`.
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
      // Data that contains itself (`set . "x" .`) is endless to print.
      const limit = limitOf(error);
      throw limit === undefined ? error : execution.error(limit, 'limit');
    }
  }
}

/** Compiles a template: Go's text/template (1.26). @throws TemplateError of kind `syntax` */
export function compileTemplate(text: string, options: TemplateOptions): Template {
  return atOnce(compileTemplateInSteps(text, options));
}

/** {@link compileTemplate}, a little of the text at a time. */
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
