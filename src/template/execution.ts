import { byteLength } from './go-string.ts';
import { printNode } from './nodes.ts';
import type { PlacedNode } from './nodes.ts';
import type { SourceText } from './source-text.ts';
import type { TemplateError } from './template-error.ts';

/** Bounds of one execution. Exceeding one is a TemplateError of kind `limit`. */
export interface ExecutionLimits {
  /** Pipelines evaluated and iterations begun. Default 1,000,000. */
  readonly steps?: number;
  /** Default 16 MiB. */
  readonly outputBytes?: number;
  /** Templates calling templates. Default 250. */
  readonly depth?: number;
  /** Wall time, checked every 32 steps. Needs `now`; default none. */
  readonly milliseconds?: number;
  /** A monotonic clock in milliseconds, e.g. `performance.now`. */
  readonly now?: () => number;
}

/** What is known of every template defined in one text. */
export interface Program {
  readonly source: SourceText;
  readonly missingKey: 'default' | 'zero' | 'error';
  /** The named templates' bodies. */
  readonly templates: Map<string, Run>;
}

/** How a statement ended: by itself, or by {{break}} or {{continue}}. */
export type Completion = 'done' | 'break' | 'continue';

/** A compiled statement. */
export type Run = (execution: Execution, dot: unknown) => Completion;

/** A compiled expression. */
export type Evaluate = (execution: Execution, dot: unknown) => unknown;

/** After how many steps the clock is read again: single steps can take long, reading it takes longer than most. */
const clockInterval = 32;

/** The state of one execution of a template. Programs are immutable; everything that changes is here. */
export class Execution {
  readonly program: Program;
  output = '';
  /** The node being evaluated, for errors. */
  node: PlacedNode = { type: 'text', position: 0, text: '' };
  /** The name of the template being executed. */
  executing: string;
  /** The stack of variables: a name and a value each. Lookups go from the top, as Go's do. */
  names: string[] = ['$'];
  values: unknown[];
  readonly #limits: ExecutionLimits;
  readonly #maximumSteps: number;
  readonly #maximumOutput: number;
  readonly #maximumDepth: number;
  readonly #deadline: number;
  #steps = 0;
  #depth = 0;

  constructor(program: Program, data: unknown, limits: ExecutionLimits) {
    this.program = program;
    this.executing = program.source.name;
    this.values = [data];
    this.#limits = limits;
    this.#maximumSteps = limits.steps ?? 1_000_000;
    this.#maximumOutput = limits.outputBytes ?? 16 * 1024 * 1024;
    this.#maximumDepth = limits.depth ?? 250;
    this.#deadline = (limits.now?.() ?? 0) + (limits.milliseconds ?? Infinity);
  }

  /** An error at the current node. */
  error(reason: string): TemplateError {
    return this.program.source.executionError(
      'execution',
      this.node.position,
      this.executing,
      printNode(this.node),
      reason,
    );
  }

  /** An error of a bound at the current node. */
  limit(reason: string): TemplateError {
    return this.program.source.executionError(
      'limit',
      this.node.position,
      this.executing,
      printNode(this.node),
      reason,
    );
  }

  /** Counts one unit of work. */
  step(): void {
    this.#steps += 1;
    if (this.#steps > this.#maximumSteps) throw this.limit(`exceeded the limit of ${this.#maximumSteps} steps`);
    if (this.#steps % clockInterval !== 0) return;
    const { now, milliseconds } = this.#limits;
    if (now !== undefined && now() > this.#deadline)
      throw this.limit(`exceeded the limit of ${String(milliseconds)} ms`);
  }

  /** Appends to the output. UTF-16 units are never more than bytes, so they serve until the end. */
  write(text: string): void {
    this.output += text;
    if (this.output.length > this.#maximumOutput) throw this.#outputError();
  }

  #outputError(): TemplateError {
    return this.limit(`exceeded the limit of ${this.#maximumOutput} bytes of output`);
  }

  /** The output, when it is within its bound. */
  finish(): string {
    if (this.output.length * 3 > this.#maximumOutput && byteLength(this.output) > this.#maximumOutput)
      throw this.#outputError();
    return this.output;
  }

  /** Declares a variable on top of the stack. */
  declare(name: string, value: unknown): void {
    this.names.push(name);
    this.values.push(value);
  }

  /** Drops the variables declared since the stack had this length. */
  unwind(length: number): void {
    this.names.length = length;
    this.values.length = length;
  }

  /** Where on the stack the variable of this name is; the latest one wins. */
  indexOf(name: string): number {
    const index = this.names.lastIndexOf(name);
    if (index < 0) throw this.error(`undefined variable: ${name}`);
    return index;
  }

  /** Runs a named template: it sees `dot` and no variable but `$`. */
  call(name: string, body: Run, dot: unknown): void {
    if (this.#depth >= this.#maximumDepth) throw this.limit(`exceeded maximum template depth (${this.#maximumDepth})`);
    const { names, values, executing } = this;
    this.names = ['$'];
    this.values = [dot];
    this.executing = name;
    this.#depth += 1;
    body(this, dot);
    this.#depth -= 1;
    this.executing = executing;
    this.values = values;
    this.names = names;
  }
}

/** Which of the engine's own bounds an error is about, if any. */
export function limitOf(error: unknown): string | undefined {
  if (!(error instanceof RangeError)) return undefined;
  if (error.message.includes('call stack')) return 'exceeded the depth of the stack';
  return /^Invalid (?:string|array) length$/.test(error.message) ? 'exceeded the size of strings and lists' : undefined;
}
