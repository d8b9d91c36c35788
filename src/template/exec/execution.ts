import { byteLength } from '../go-string.ts';
import { cost, Meter } from './meter.ts';
import { printNode, type PlacedNode } from '../parse/nodes.ts';
import type { SourceText } from '../parse/source-text.ts';
import type { TemplateError } from '../template-error.ts';

/** A part of a template's data, as something that one execution can compare with another. Pure: it depends on the data alone. */
export type Reading = (data: unknown, others: Pick<Execution, 'reading'>) => unknown;

/** Bounds of one execution. Exceeding one is a TemplateError of kind `limit`. */
export interface ExecutionLimits {
  /** Pipelines evaluated and iterations begun. Default 1,000,000. */
  readonly steps?: number;
  /** Default 1 MiB: etcd takes no object of more than 1.5 MiB, and the API server itself works half a minute on a pod of 100,000 containers. */
  readonly outputBytes?: number;
  /** Templates calling templates. Default 250. */
  readonly depth?: number;
  /** Units of work, see meter.ts. Default 64,000,000. */
  readonly work?: number;
  /** What counts the work instead of a Meter of its own: several executions share it. `work` is not looked at then. */
  readonly meter?: Meter;
}

/** What is known of every template defined in one text. */
export interface Program {
  readonly source: SourceText;
  readonly missingKey: 'default' | 'zero' | 'error';
  /** The named templates' bodies. */
  readonly templates: Map<string, Run>;
  /** The parts of the data that are read by name, see readings.ts. */
  readonly readings: readonly Reading[];
}

/** How a statement ended: by itself, or by {{break}} or {{continue}}. */
export type Completion = 'done' | 'break' | 'continue';

/** A compiled statement. */
export type Run = (execution: Execution, dot: unknown) => Completion;

/** A compiled expression. */
export type Evaluate = (execution: Execution, dot: unknown) => unknown;

/** In the place of a reading that nothing has asked for yet. */
const notRead: unique symbol = Symbol('not read');

/** A variable of a template. */
interface Variable {
  readonly name: string;
  value: unknown;
  /** What of the data has been read for its value. */
  readonly sources: ReadonlySet<number> | undefined;
}

/** The state of one execution of a template. Programs are immutable; everything that changes is here. */
export class Execution {
  readonly program: Program;
  readonly meter: Meter;
  output = '';
  /** The node being evaluated, for errors. */
  node: PlacedNode = { type: 'text', position: 0, text: '' };
  /** The name of the template being executed. */
  executing: string;
  /** The stack of variables. Lookups go from the top, as Go's do. */
  variables: Variable[];
  readonly data: unknown;
  /** Gets the places of the readings that are made, while a statement that may be remembered runs. */
  reads: Set<number> | undefined;
  /** Pipelines evaluated and iterations begun so far. */
  steps = 0;
  readonly #readings: unknown[];
  readonly #limits: ExecutionLimits & Required<Pick<ExecutionLimits, 'steps' | 'outputBytes' | 'depth'>>;
  /** UTF-16 units written so far. */
  #written = 0;
  #depth = 0;

  constructor(program: Program, data: unknown, limits: ExecutionLimits) {
    this.program = program;
    this.meter = limits.meter ?? new Meter(limits.work);
    this.executing = program.source.name;
    this.variables = [{ name: '$', value: data, sources: undefined }];
    this.data = data;
    this.#readings = new Array<unknown>(program.readings.length).fill(notRead);
    this.#limits = { steps: 1_000_000, outputBytes: 1024 * 1024, depth: 250, ...limits };
  }

  /** An error at the current node: of the template, or of a bound. */
  error(reason: string, kind: 'execution' | 'limit' = 'execution'): TemplateError {
    return this.program.source.executionError(kind, this.node.position, this.executing, printNode(this.node), reason);
  }

  /** Counts a step. @param units what it costs */
  step(units: number = cost.step): void {
    this.steps += 1;
    this.meter.spend(units);
    const { steps } = this.#limits;
    if (this.steps > steps) throw this.error(`exceeded the limit of ${steps} steps`, 'limit');
  }

  /** Appends to the output. UTF-16 units are never more than bytes, so they serve until the end. */
  write(text: string): void {
    this.meter.spend(text.length);
    this.output += text;
    this.#written += text.length;
    if (this.#written > this.#limits.outputBytes) throw this.#outputError();
  }

  /**
   * Writes what statements wrote in an earlier execution, at the cost in steps and work that it had then.
   * @returns Whether it did: not when that exceeds a bound. Then executing the statements tells where.
   */
  repeat(text: string, steps: number, work: number): boolean {
    if (this.steps + steps > this.#limits.steps || this.#written + text.length > this.#limits.outputBytes) return false;
    if (!this.meter.covers(work)) return false;
    this.meter.spend(work);
    this.steps += steps;
    this.output += text;
    this.#written += text.length;
    return true;
  }

  /** What a reading of the program gives for the data of this execution. */
  reading(place: number): unknown {
    const known = this.#readings[place];
    if (known !== notRead) return known;
    const value = (this.program.readings[place] as Reading)(this.data, this);
    this.#readings[place] = value;
    return value;
  }

  /** Notes that a part of a value is read, if the value is the data. */
  noteIfData(value: unknown, place: number): void {
    if (this.reads !== undefined && value === this.data) this.reads.add(place);
  }

  /** Notes what has been read for something else. */
  note(places: Iterable<number> | undefined): void {
    if (this.reads === undefined || places === undefined) return;
    for (const place of places) this.reads.add(place);
  }

  #outputError(): TemplateError {
    return this.error(`exceeded the limit of ${this.#limits.outputBytes} bytes of output`, 'limit');
  }

  /** The output, when it is within its bound. */
  finish(): string {
    const { outputBytes } = this.#limits;
    if (this.output.length * 3 > outputBytes && byteLength(this.output) > outputBytes) throw this.#outputError();
    return this.output;
  }

  /** Declares a variable on top of the stack. @param sources what has been read for its value */
  declare(name: string, value: unknown, sources: ReadonlySet<number> | undefined): void {
    this.variables.push({ name, value, sources });
  }

  /** Drops the variables declared since the stack had this length. */
  unwind(length: number): void {
    // Setting the length costs, also when it stays the same.
    while (this.variables.length > length) this.variables.pop();
  }

  /** The latest variable of this name. */
  variable(name: string): Variable {
    for (let index = this.variables.length - 1; index >= 0; index -= 1) {
      const variable = this.variables[index] as Variable;
      if (variable.name === name) return variable;
    }
    throw this.error(`undefined variable: ${name}`);
  }

  /** Runs a named template: it sees `dot` and no variable but `$`. */
  call(name: string, body: Run, dot: unknown): void {
    const { depth } = this.#limits;
    if (this.#depth >= depth) throw this.error(`exceeded maximum template depth (${depth})`, 'limit');
    const { variables, executing } = this;
    this.variables = [{ name: '$', value: dot, sources: undefined }];
    this.executing = name;
    this.#depth += 1;
    body(this, dot);
    this.#depth -= 1;
    this.executing = executing;
    this.variables = variables;
  }
}
