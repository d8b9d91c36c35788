import { TypedValue } from '../typed-value.ts';

/** What things cost, in units. A unit is the work of touching a character, or less than five bytes of memory. */
export const cost = {
  /** A pipeline, an iteration, a call. */
  step: 8,
  /** A value that is visited, a list's element that is visited or made. */
  element: 16,
  /** The entry of a map, besides the characters of its key. */
  entry: 32,
  /** A list or map, besides what it holds. */
  container: 64,
} as const;

/** What an execution without a bound of its own may cost: a text of 16 MiB, made by any function, costs half of it. */
export const defaultWork = 64_000_000;

/** Values nested deeper than this are not gone through: the stack has an end, and JSON of requests is no deeper than 200. */
const maximumDepth = 400;

/** A bound of the engine is exceeded. Nothing but the engine itself catches it. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/**
 * Counts what executions cost, in units of work, against one limit. Whoever is about to go through a value, or to make
 * one, spends first: so the limit bounds time and memory alike.
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

  /** Counts work that is about to be done. @throws LimitError when that is more than the limit; from then on always */
  spend(units: number): void {
    this.#spent += units;
    // Written so that NaN is too much.
    if (!(this.#spent <= this.limit)) throw new LimitError(`exceeded the limit of ${this.limit} units of work`);
  }

  /** Whether so much can still be spent. */
  covers(units: number): boolean {
    return this.#spent + units <= this.limit;
  }

  /**
   * Counts a value that is gone through. @param depth how many others it is in
   * @throws LimitError also when it is nested too deep, or contains itself
   */
  visit(depth: number): void {
    this.spend(cost.element);
    if (depth > maximumDepth)
      throw new LimitError(`exceeded the depth of ${maximumDepth} lists and maps in each other`);
  }
}

/** What going through a value costs, without what its elements hold. */
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

/** The entries of a map with the characters of their keys: whoever sorts or copies them touches those too. */
export function mapCost(map: object): number {
  let units = 0;
  for (const key of Object.keys(map)) units += cost.entry + key.length;
  return units;
}

/** What a value costs where no list or map is gone through. */
export function textCost(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value instanceof TypedValue && typeof value.raw === 'string' ? value.raw.length : 0;
}

/** The result, or what stands for it when that fails. An exceeded bound is no such failure: it ends the execution. */
export function orElse<Result>(run: () => Result, otherwise: Result): Result {
  try {
    return run();
  } catch (error) {
    if (limitOf(error) !== undefined) throw error;
    return otherwise;
  }
}

/** Which of the engine's own bounds an error is about, if any. */
export function limitOf(error: unknown): string | undefined {
  if (error instanceof LimitError) return error.message;
  if (!(error instanceof RangeError)) return undefined;
  if (error.message.includes('call stack')) return 'exceeded the depth of the stack';
  return /^Invalid (?:string|array) length$/.test(error.message) ? 'exceeded the size of strings and lists' : undefined;
}
