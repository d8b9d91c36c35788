import { TypedValue } from '../typed-value.ts';

/** Costs in units. A unit is the work for one character, or less than five bytes of memory. */
export const cost = {
  /** A pipeline, an iteration or a call. */
  step: 8,
  /** A visited value, or a visited or new element of a list. */
  element: 16,
  /** An entry of a map, without the characters of its key. */
  entry: 32,
  /** A list or map, without its content. */
  container: 64,
} as const;

/** The default work limit in units. A text of 16 MiB costs half of this limit. */
export const defaultWork = 64_000_000;

/** The maximum nesting of values, to protect the stack. JSON in requests has at most 200 levels. */
const maximumDepth = 400;

/** A limit of the engine is exceeded. Only the engine catches it. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/**
 * Counts the work of executions, in units, against one limit. Code spends before it visits or
 * creates a value, so the limit bounds time and memory.
 */
export class Meter {
  readonly limit: number;
  #spent = 0;

  constructor(limit: number = defaultWork) {
    this.limit = limit;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Counts work in advance. @throws LimitError above the limit, and in every later call */
  spend(units: number): void {
    this.#spent += units;
    // This form of the comparison also rejects NaN.
    if (!(this.#spent <= this.limit)) throw new LimitError(`exceeded the limit of ${this.limit} units of work`);
  }

  /** Reports whether this much work remains. */
  covers(units: number): boolean {
    return this.#spent + units <= this.limit;
  }

  /**
   * Counts a visited value. @param depth the number of values around it
   * @throws LimitError also for a value that is nested too deeply or contains itself
   */
  visit(depth: number): void {
    this.spend(cost.element);
    if (depth > maximumDepth) throw new LimitError(`exceeded the depth of ${maximumDepth} nested lists and maps`);
  }
}

/** Returns the cost of visiting a value, excluding the content of its elements. */
export function shallowCost(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? containerCost(value) : 0;
}

function containerCost(value: object): number {
  if (Array.isArray(value)) return cost.container + value.length * cost.element;
  if (!(value instanceof TypedValue)) return cost.container + mapCost(value);
  const { raw } = value;
  if (typeof raw === 'string') return raw.length;
  if (value.type.kind === 'slice' && Array.isArray(raw)) return cost.container + raw.length * cost.element;
  return value.type.kind === 'map' && typeof raw === 'object' && raw !== null ? cost.container + mapCost(raw) : 0;
}

/** Returns the cost of a map's entries and keys, which sorting and copying touch. */
export function mapCost(map: object): number {
  let units = 0;
  for (const key of Object.keys(map)) units += cost.entry + key.length;
  return units;
}

/** Returns the cost of a value whose lists and maps are not visited. */
export function textCost(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value instanceof TypedValue && typeof value.raw === 'string' ? value.raw.length : 0;
}

/** Returns the result of `run`, or `otherwise` if `run` fails. Rethrows errors about limits. */
export function orElse<Result>(run: () => Result, otherwise: Result): Result {
  try {
    return run();
  } catch (error) {
    if (limitOf(error) !== undefined) throw error;
    return otherwise;
  }
}

/** Returns the message about an exceeded limit of the engine; undefined for other errors. */
export function limitOf(error: unknown): string | undefined {
  if (error instanceof LimitError) return error.message;
  if (!(error instanceof RangeError)) return undefined;
  if (error.message.includes('call stack')) return 'exceeded the depth of the stack';
  return /^Invalid (?:string|array) length$/.test(error.message) ? 'exceeded the size of strings and lists' : undefined;
}
