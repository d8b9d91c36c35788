import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The rows that scripts/merge-recorder wrote: one JSON value per line, compressed. */
export function readRows<Row>(file: URL): Row[] {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

/** Freezes a value and everything in it, so that a change throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

/** The words of a message, sorted: Go gives the names in some in any order. Why a YAML text or an address cannot be read is left out. */
export function sortedWords(message = ''): string {
  const words = message.replace(/(?:yaml: |ParseAddr\().*/g, '').trim().split(/[\s,]+/);
  return words.sort().join(' ');
}
