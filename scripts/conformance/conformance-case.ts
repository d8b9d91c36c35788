/** One comparison with a recorded result of Istio's. */
export interface ConformanceCase {
  /** Unique and stable: it is what .ci/conformance-pending.txt names. */
  readonly id: string;
  /** What is counted together: `webhook`, `cross/default`, `tables/parseStatus` … */
  readonly group: string;
  /** `undefined` when the results are equal, else where they part. */
  readonly run: () => Mismatch | undefined;
}

export interface Mismatch {
  /** One line: the path and both values. */
  readonly summary: string;
  /** The names of the deliberate differences that explain it, if they do. */
  readonly differences?: readonly string[];
}

/** A mismatch unless both are equal. */
export function expectEqual(actual: unknown, wanted: unknown): Mismatch | undefined {
  const place = firstDifference(actual, wanted, '');
  return place === undefined ? undefined : { summary: place };
}

/** Where two JSON values part, as `path: got … want …`; the order of members does not matter. */
export function firstDifference(actual: unknown, wanted: unknown, path: string): string | undefined {
  if (Object.is(actual, wanted)) return undefined;
  if (Array.isArray(actual) && Array.isArray(wanted)) {
    for (let index = 0; index < Math.max(actual.length, wanted.length); index += 1) {
      const place = firstDifference(actual[index], wanted[index], `${path}/${index}`);
      if (place !== undefined) return place;
    }
    return undefined;
  }
  if (isObject(actual) && isObject(wanted)) {
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(actual)])) {
      const place = firstDifference(own(actual, name), own(wanted, name), `${path}/${name}`);
      if (place !== undefined) return place;
    }
    return undefined;
  }
  return `${path}: got ${show(actual)} want ${show(wanted)}`;
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
