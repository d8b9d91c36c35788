import type { Execution, Run } from './execution.ts';
import { dataType, unreadable, wholeData, type Readings } from './readings.ts';

/** The maximum length of a remembered output, which may depend on untrusted text. */
const longestRemembered = 65_536;
/** The maximum number of readings that are worth a comparison. */
const mostReadings = 512;
/** The number of futile recordings before recording pauses. Recording costs half an execution. */
const mostFutile = 4;
/** The number of executions (counted in `futile`) after which a pause ends. */
const retryAfter = 18;

/**
 * Runs statements that neither end by {{break}} or {{continue}} nor declare variables. While the
 * dot is the data, statements that would read the same data as in the last run repeat their output.
 * Each node of a binary tree remembers its output, so a change affects few statements.
 */
export function rememberedList(statements: readonly Run[], readings: Readings): Run {
  const [first] = statements;
  if (first !== undefined && statements.length === 1) return remembering(first, readings);
  const middle = statements.length >> 1;
  const left = rememberedList(statements.slice(0, middle), readings);
  const right = rememberedList(statements.slice(middle), readings);
  const both: Run = (execution, dot) => {
    left(execution, dot);
    return right(execution, dot);
  };
  return remembering(both, readings);
}

/** The last output, and the readings that it depends on. */
interface Memory {
  readonly slots: readonly number[];
  readonly values: readonly unknown[];
  readonly output: string;
  readonly steps: number;
  readonly work: number;
}

function remembering(run: Run, readings: Readings): Run {
  let memory: Memory | undefined;
  let futile = 0;
  return (execution, dot) => {
    if (dot !== execution.data || readings.changesData) return run(execution, dot);
    if (futile >= mostFutile && (futile += 1) < retryAfter) return run(execution, dot);
    if (memory !== undefined && isCurrent(memory, execution)) {
      if (execution.repeat(memory.output, memory.steps, memory.work)) {
        futile = 0;
        execution.note(memory.slots);
        return 'done';
      }
    }
    const { output: before, steps, reads: outer } = execution;
    const { spent } = execution.meter;
    const reads = new Set([dataType]);
    execution.reads = reads;
    execution.output = '';
    run(execution, dot);
    const { output } = execution;
    execution.output = before + output;
    execution.reads = outer;
    const values = read(reads, execution);
    // A part that contains this part cannot be remembered either.
    execution.note(values === undefined ? [wholeData] : reads);
    // One recording after a pause shows whether executions are equal again.
    futile = futile < mostFutile ? futile + 1 : mostFutile - 1;
    if (futile === mostFutile) memory = undefined;
    else if (values !== undefined && output.length <= longestRemembered) {
      const slots = [...reads];
      memory = { slots, values, output, steps: execution.steps - steps, work: execution.meter.spent - spent };
    }
    return 'done';
  };
}

function isCurrent({ slots, values }: Memory, execution: Execution): boolean {
  for (let index = 0; index < slots.length; index += 1) {
    // 0 and -0 print differently.
    if (!Object.is(values[index], execution.reading(slots[index] as number))) return false;
  }
  return true;
}

/** Returns the values of readings; `undefined` if one is unreadable or there are too many. */
function read(slots: ReadonlySet<number>, execution: Execution): unknown[] | undefined {
  if (slots.size > mostReadings) return undefined;
  const values: unknown[] = [];
  for (const slot of slots) {
    const value = execution.reading(slot);
    if (value === unreadable) return undefined;
    values.push(value);
  }
  return values;
}
