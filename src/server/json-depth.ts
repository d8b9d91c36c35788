const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Whether a JSON text nests deeper than `maxDepth`, without parsing it: everything that walks a parsed object afterwards recurses, and an exhausted
 * stack in the middle of a walk is no place to recover from. Text that is not JSON gets some answer; parsing refuses it later.
 */
export function isDeeperThan(maxDepth: number, json: Buffer): boolean {
  let depth = 0;
  const end = json.length;
  for (let index = 0; index < end; index++) {
    switch (json[index]) {
      case quote:
        index = endOfString(json, index + 1);
        break;
      case openBrace:
      case openBracket:
        depth++;
        if (depth > maxDepth) return true;
        break;
      case closeBrace:
      case closeBracket:
        depth--;
        break;
    }
  }
  return false;
}

/** The index of the quote that ends the string whose first character is at `index`. */
function endOfString(json: Buffer, index: number): number {
  const end = json.length;
  while (index < end) {
    const byte = json[index];
    if (byte === quote) return index;
    index += byte === backslash ? 2 : 1;
  }
  return end;
}
