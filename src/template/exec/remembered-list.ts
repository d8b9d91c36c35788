import type { Execution, Run } from './execution.ts';
import { dataType, unreadable, wholeData, type Readings } from './readings.ts';

/** Longer outputs are not remembered: what is pasted into them has a say in how long they are. */
const longestRemembered = 65_536;
/** More readings than this are not worth comparing. */
const mostReadings = 512;
/** Recording costs half an execution. After so many recordings in a row that nothing repeated, recording pauses. */
const mostFutile = 4;
/** The pause ends when `futile`, which goes on counting executions from {@link mostFutile}, reaches this. */
const retryAfter = 18;

/**
 * Runs statements of which none ends by {{break}} or {{continue}} or declares a variable. While the dot is the data,
 * they write what they wrote the last time when what they read then is the same. They are the leaves of a binary tree,
 * of which every part remembers: one statement that writes something else leaves the others alone.
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

/** What was written the last time, what was read for it, and what that was. */
interface Memory {
  readonly places: readonly number[];
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
    if (memory !== undefined && holds(memory, execution)) {
      if (execution.repeat(memory.output, memory.steps, memory.work)) {
        futile = 0;
        execution.note(memory.places);
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
    // What contains this is not worth remembering either then.
    execution.note(values === undefined ? [wholeData] : reads);
    // After a pause one more is recorded, which shows whether the executions are alike now.
    futile = futile < mostFutile ? futile + 1 : mostFutile - 1;
    if (futile === mostFutile) memory = undefined;
    else if (values !== undefined && output.length <= longestRemembered) {
      const places = [...reads];
      memory = { places, values, output, steps: execution.steps - steps, work: execution.meter.spent - spent };
    }
    return 'done';
  };
}

function holds({ places, values }: Memory, execution: Execution): boolean {
  for (let index = 0; index < places.length; index += 1) {
    // 0 and -0 are printed differently.
    if (!Object.is(values[index], execution.reading(places[index] as number))) return false;
  }
  return true;
}

/** The values of readings; `undefined` when there is one that is never the same, or too many. */
function read(places: ReadonlySet<number>, execution: Execution): unknown[] | undefined {
  if (places.size > mostReadings) return undefined;
  const values: unknown[] = [];
  for (const place of places) {
    const value = execution.reading(place);
    if (value === unreadable) return undefined;
    values.push(value);
  }
  return values;
}
