const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** The change of depth at a byte outside strings: +1 for an opening, -1 for a closing bracket. */
const nesting = new Int8Array(256);
for (const bracket of '{[') nesting[bracket.charCodeAt(0)] = 1;
for (const bracket of '}]') nesting[bracket.charCodeAt(0)] = -1;

export interface JsonBounds {
  /** The maximum depth of objects and arrays, in levels. */
  readonly maxDepth: number;
  /** The maximum number of values, counted as opening brackets plus commas plus one. */
  readonly maxValues: number;
}

/**
 * Checks the bounds of a JSON text piece by piece, before it is parsed, so that a large body does
 * not delay other requests. The depth has a bound because code that walks a parsed object recurses,
 * and cannot recover from a stack overflow. The number of values has a bound because parsing 20 MiB
 * of `{},{},…` would take half a gigabyte. The parser later refuses text that is not JSON.
 */
export class JsonScanner {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #inString = false;
  /** Whether the last piece ended with the backslash of an escape. */
  #escaped = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** @returns the exceeded bound, e.g. `nests deeper than 200 levels`; otherwise undefined */
  scan(piece: Buffer): string | undefined {
    const { maxDepth, maxValues } = this.#bounds;
    const end = piece.length;
    let depth = this.#depth;
    let values = this.#values;
    let index = this.#escaped ? 1 : 0;
    if (this.#inString) index = endOfString(piece, index);
    while (index < end) {
      const byte = piece[index] ?? 0;
      if (byte === quote) {
        index = endOfString(piece, index + 1);
        continue;
      }
      index++;
      if (byte === comma) {
        if (++values > maxValues) break;
        continue;
      }
      const step = nesting[byte] ?? 0;
      if (step === 0) continue;
      depth += step;
      if (step > 0 && (++values > maxValues || depth > maxDepth)) break;
    }
    this.#depth = depth;
    this.#values = values;
    this.#inString = index > end;
    this.#escaped = index === end + 2;
    if (depth > maxDepth) return `nests deeper than ${maxDepth} levels`;
    return values > maxValues ? `contains more than ${maxValues} values` : undefined;
  }
}

/**
 * Returns the index after the closing quote of the string that contains `index`. If the piece ends
 * first, returns its length plus one, or plus two if the piece ends with the backslash of an
 * escape.
 */
function endOfString(piece: Buffer, index: number): number {
  const end = piece.length;
  while (index < end) {
    const byte = piece[index];
    index++;
    if (byte === quote) return index;
    if (byte === backslash) index++;
  }
  return index > end ? end + 2 : end + 1;
}
