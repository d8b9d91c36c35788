import type { DependencySet } from './dependencies.ts';
import type { Execution, Run } from './execution.ts';
import { unreadable } from './readings.ts';

/** A statement and what its output depends on. */
export interface KnownStatement {
  readonly run: Run;
  readonly dependencies: DependencySet;
}

/** Longer outputs are not remembered: what is pasted into them has a say in how long they are. */
const longestRemembered = 65_536;

/**
 * Statements one after the other. Those whose dependencies are known write what they wrote the last time when what they depend on is the same.
 * They are the leaves of a binary tree, of which every part remembers: one statement that writes something else leaves the others alone.
 */
export function rememberedList(statements: readonly KnownStatement[]): Run[] {
  const result: Run[] = [];
  let leaves: Leaf[] = [];
  const flush = (): void => {
    const part = grow(leaves);
    if (part !== undefined) result.push(part);
    leaves = [];
  };
  for (const { run, dependencies } of statements) {
    if (dependencies === undefined) {
      flush();
      result.push(run);
    } else {
      addLeaf(leaves, run, dependencies);
    }
  }
  flush();
  return result;
}

/** Neighbours that depend on the same. */
interface Leaf {
  readonly statements: Run[];
  dependencies: ReadonlySet<number>;
}

function addLeaf(leaves: Leaf[], run: Run, dependencies: ReadonlySet<number>): void {
  const last = leaves.at(-1);
  if (
    last === undefined ||
    !(dependencies.size === 0 || last.dependencies.size === 0 || isSame(last.dependencies, dependencies))
  ) {
    leaves.push({ statements: [run], dependencies });
    return;
  }
  last.statements.push(run);
  if (last.dependencies.size === 0) last.dependencies = dependencies;
}

function isSame(left: ReadonlySet<number>, right: ReadonlySet<number>): boolean {
  if (left.size !== right.size) return false;
  for (const place of right) if (!left.has(place)) return false;
  return true;
}

function grow(leaves: readonly Leaf[]): Run | undefined {
  const [first] = leaves;
  if (first === undefined) return undefined;
  if (leaves.length === 1) return remembering(inTurn(first.statements), first.dependencies);
  const middle = leaves.length >> 1;
  const parts = [grow(leaves.slice(0, middle)), grow(leaves.slice(middle))].filter((part) => part !== undefined);
  return remembering(inTurn(parts), new Set(leaves.flatMap(({ dependencies }) => [...dependencies])));
}

/** Runs statements of which none ends by {{break}} or {{continue}}. */
function inTurn(statements: readonly Run[]): Run {
  const [first] = statements;
  if (first !== undefined && statements.length === 1) return first;
  return (execution, dot) => {
    for (const statement of statements) statement(execution, dot);
    return 'done';
  };
}

/** What was written the last time, and when that holds. */
interface Memory {
  readonly values: readonly unknown[];
  readonly output: string;
  readonly steps: number;
  readonly work: number;
}

/** More readings than this are not worth comparing. */
const mostReadings = 512;

function remembering(run: Run, dependencies: ReadonlySet<number>): Run {
  if (dependencies.size === 0 || dependencies.size > mostReadings) return run;
  const places = [0, ...dependencies];
  let memory: Memory | undefined;
  return (execution, dot) => {
    if (memory !== undefined && holds(memory, places, execution)) {
      if (execution.repeat(memory.output, memory.steps, memory.work)) return 'done';
    }
    const values = read(places, execution);
    if (values === undefined) return run(execution, dot);
    const { output: before, steps } = execution;
    const { spent } = execution.meter;
    execution.output = '';
    run(execution, dot);
    const { output } = execution;
    execution.output = before + output;
    if (output.length <= longestRemembered)
      memory = { values, output, steps: execution.steps - steps, work: execution.meter.spent - spent };
    return 'done';
  };
}

function holds({ values }: Memory, places: readonly number[], execution: Execution): boolean {
  for (let index = 0; index < places.length; index += 1) {
    // 0 and -0 are printed differently.
    if (!Object.is(values[index], execution.reading(places[index] as number))) return false;
  }
  return true;
}

/** The values of readings; `undefined` when there is one that is never the same. */
function read(places: readonly number[], execution: Execution): unknown[] | undefined {
  const values: unknown[] = [];
  for (const place of places) {
    const value = execution.reading(place);
    if (value === unreadable) return undefined;
    values.push(value);
  }
  return values;
}
