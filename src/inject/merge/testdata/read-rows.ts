import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Reads rows of scripts/merge-recorder: one JSON value per line, compressed. */
export function readRows<Row>(file: URL): Row[] {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

/** Freezes a value deeply, so that a change throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

/** Sorts the words of a message, because Go lists names in random order; drops parser details. */
export function sortedWords(message = ''): string {
  const words = message.replace(/(?:yaml: |ParseAddr\().*/g, '').trim().split(/[\s,]+/);
  return words.sort().join(' ');
}
