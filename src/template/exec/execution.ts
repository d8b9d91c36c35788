import { byteLength } from '../go-string.ts';
import { cost, Meter } from './meter.ts';
import { printNode, type PlacedNode } from '../parse/nodes.ts';
import type { SourceText } from '../parse/source-text.ts';
import type { TemplateError } from '../template-error.ts';

/** Reads a part of the data to compare executions. The result depends only on the data. */
export type Reading = (data: unknown, others: Pick<Execution, 'reading'>) => unknown;

/** The limits of one execution. Exceeding one throws a TemplateError of kind `limit`. */
export interface ExecutionLimits {
  /** The maximum number of evaluated pipelines and iterations. Default 1,000,000. */
  readonly steps?: number;
  /** The maximum output in bytes. Default 1 MiB: etcd accepts no object over 1.5 MiB. */
  readonly outputBytes?: number;
  /** The maximum depth of nested template calls. Default 250. */
  readonly depth?: number;
  /** The maximum work in units, see meter.ts. Default 64,000,000. */
  readonly work?: number;
  /** A meter shared by several executions; if set, `work` is ignored. */
  readonly meter?: Meter;
}

/** The compiled templates of one text. */
export interface Program {
  readonly source: SourceText;
  readonly missingKey: 'default' | 'zero' | 'error';
  /** The bodies of the named templates. */
  readonly templates: Map<string, Run>;
  /** The parts of the data that are read by name; see readings.ts. */
  readonly readings: readonly Reading[];
}

/** How a statement ended: normally, or by {{break}} or {{continue}}. */
export type Completion = 'done' | 'break' | 'continue';

/** A compiled statement. */
export type Run = (execution: Execution, dot: unknown) => Completion;

/** A compiled expression. */
export type Evaluate = (execution: Execution, dot: unknown) => unknown;

/** Marks a reading that was not requested yet. */
const notRead: unique symbol = Symbol('not read');

interface Variable {
  readonly name: string;
  value: unknown;
  /** The slots of the readings that `value` depends on. */
  readonly sources: ReadonlySet<number> | undefined;
}

/** The mutable state of one execution; programs are immutable. */
export class Execution {
  readonly program: Program;
  readonly meter: Meter;
  output = '';
  /** The node being evaluated, for errors. */
  node: PlacedNode = { type: 'text', position: 0, text: '' };
  /** The name of the template being executed. */
  executing: string;
  /** The stack of variables; lookups start at the top, as in Go. */
  variables: Variable[];
  readonly data: unknown;
  /** Collects the slots of readings while a statement runs that may remember its output. */
  reads: Set<number> | undefined;
  /** The number of pipelines and iterations so far. */
  steps = 0;
  readonly #readings: unknown[];
  readonly #limits: ExecutionLimits & Required<Pick<ExecutionLimits, 'steps' | 'outputBytes' | 'depth'>>;
  /** The number of UTF-16 units written so far. */
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

  /** Makes an error at the current node. */
  error(reason: string, kind: 'execution' | 'limit' = 'execution'): TemplateError {
    return this.program.source.executionError(kind, this.node.position, this.executing, printNode(this.node), reason);
  }

  /** Counts a step. @param units its cost */
  step(units: number = cost.step): void {
    this.steps += 1;
    this.meter.spend(units);
    const { steps } = this.#limits;
    if (this.steps > steps) throw this.error(`exceeded the limit of ${steps} steps`, 'limit');
  }

  /** Appends to the output. Counts UTF-16 units; a text never has more units than bytes. */
  write(text: string): void {
    this.meter.spend(text.length);
    this.output += text;
    this.#written += text.length;
    if (this.#written > this.#limits.outputBytes) throw this.#outputError();
  }

  /**
   * Writes the remembered output of statements, at their original cost in steps and work.
   * @returns false if that would exceed a limit; the caller then executes the statements, which
   * reports the position
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

  /** Returns the value of a reading for this execution's data. */
  reading(slot: number): unknown {
    const known = this.#readings[slot];
    if (known !== notRead) return known;
    const value = (this.program.readings[slot] as Reading)(this.data, this);
    this.#readings[slot] = value;
    return value;
  }

  /** Records the reading `slot` if the value is the whole data. */
  noteIfData(value: unknown, slot: number): void {
    if (this.reads !== undefined && value === this.data) this.reads.add(slot);
  }

  /** Records readings that were made elsewhere. */
  note(slots: Iterable<number> | undefined): void {
    if (this.reads === undefined || slots === undefined) return;
    for (const slot of slots) this.reads.add(slot);
  }

  #outputError(): TemplateError {
    return this.error(`exceeded the limit of ${this.#limits.outputBytes} bytes of output`, 'limit');
  }

  /** Returns the output. @throws TemplateError when it exceeds its limit */
  finish(): string {
    const { outputBytes } = this.#limits;
    if (this.output.length * 3 > outputBytes && byteLength(this.output) > outputBytes) throw this.#outputError();
    return this.output;
  }

  /** Declares a variable. @param sources the readings that `value` depends on */
  declare(name: string, value: unknown, sources: ReadonlySet<number> | undefined): void {
    this.variables.push({ name, value, sources });
  }

  /** Drops the variables above the given stack height. */
  unwind(length: number): void {
    // Setting the length is slow, even to the same value.
    while (this.variables.length > length) this.variables.pop();
  }

  /** Returns the latest variable of this name. */
  variable(name: string): Variable {
    for (let index = this.variables.length - 1; index >= 0; index -= 1) {
      const variable = this.variables[index] as Variable;
      if (variable.name === name) return variable;
    }
    throw this.error(`undefined variable: ${name}`);
  }

  /** Runs a named template, which sees `dot` and no variable but `$`. */
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
