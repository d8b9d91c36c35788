const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** What the scanner does at a byte outside strings: 0 nothing, +1 opens, -1 closes. */
const nesting = new Int8Array(256);
for (const bracket of '{[') nesting[bracket.charCodeAt(0)] = 1;
for (const bracket of '}]') nesting[bracket.charCodeAt(0)] = -1;

export interface JsonBounds {
  /** Levels of objects and arrays. */
  readonly maxDepth: number;
  /** Values of all kinds, as an upper bound: one more than the brackets that open and the commas. */
  readonly maxValues: number;
}

/**
 * Bounds a JSON text before anything parses it, piece by piece as it arrives, so that no large body holds up the others. Depth: whatever walks a parsed object
 * recurses, and an exhausted stack in the middle of a walk is no place to recover from. Values: 20 MiB of `{},{},…` would take half a gigabyte.
 * Text that is not JSON passes or not; parsing refuses it later.
 */
export class JsonScanner {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #inString = false;
  /** The last piece ended between a backslash and what it escapes. */
  #escaped = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** @returns which bound is broken, as `nests deeper than 200 levels`; undefined while none is. */
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
    return values > maxValues ? `holds more than ${maxValues} values` : undefined;
  }
}

/**
 * Where to go on after the string that `index` is in: behind its quote; or, when the piece ends first, one past the piece's end,
 * two past it when what a last backslash escapes is in the next piece.
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
