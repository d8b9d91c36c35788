/** A comparison with a recorded result of Istio. */
export interface ConformanceCase {
  /** A unique and stable id, by which .ci/conformance-pending.txt names the case. */
  readonly id: string;
  /** The group for totals: `webhook`, `cross/default`, `tables/parseStatus` … */
  readonly group: string;
  /** Returns the first mismatch; undefined if the results are equal. */
  readonly run: () => Mismatch | undefined;
}

export interface Mismatch {
  /** One line with the path and the two values. */
  readonly summary: string;
  /** The names of the deliberate differences that explain the mismatch, if any. */
  readonly differences?: readonly string[];
}

/** Compares one row of a recorded table with the engine's result. */
export type RowComparison = (row: unknown) => Mismatch | undefined;

/** Returns a mismatch unless the two values are equal. */
export function expectEqual(actual: unknown, expected: unknown): Mismatch | undefined {
  const summary = firstDifference(actual, expected, '');
  return summary === undefined ? undefined : { summary };
}

/** Returns the first difference of two JSON values as `path: got … want …`. Ignores field order. */
export function firstDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (Array.isArray(actual) && Array.isArray(expected)) {
    for (let index = 0; index < Math.max(actual.length, expected.length); index += 1) {
      const difference = firstDifference(actual[index], expected[index], `${path}/${index}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (isObject(actual) && isObject(expected)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const difference = firstDifference(own(actual, name), own(expected, name), `${path}/${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return `${path}: got ${show(actual)}, expected ${show(expected)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
