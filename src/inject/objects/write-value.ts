import { dump, Schema, Type } from 'js-yaml';
import { resolvePlain } from '../yaml/plain-scalar.ts';

/** What Go reads otherwise than as a text, which needs quotes. */
const plain = new Type('tag:yaml.org,2002:plain', {
  kind: 'scalar',
  resolve: (text: string | null) => resolvePlain(text ?? '') !== undefined,
});

/** Numbers, booleans and null. */
const others = new Type('tag:yaml.org,2002:other', {
  kind: 'scalar',
  resolve: () => false,
  predicate: (value: unknown) => value === null || ['number', 'boolean'].includes(typeof value),
  represent: (value: unknown) => JSON.stringify(value),
});
const options = {
  schema: new Schema({ implicit: [plain, others], explicit: [] }),
  lineWidth: -1,
  noRefs: true,
  noArrayIndent: true,
};

/**
 * Writes a member of a map, or an item of a list, as lines at a column.
 * @param key the name of the member; undefined for an item
 */
export function entryLines(key: string | undefined, value: unknown, column: number): string[] {
  const text = dump(key === undefined ? [value] : { [key]: value }, options);
  const lines = escaped(text).slice(0, -1).split('\n');
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(column)}${line}`));
}

/** Writes a value as JSON on one line, for a place in brackets. */
export function flowValue(value: unknown): string {
  return escaped(JSON.stringify(value, undefined, 1)).replaceAll(/\n */g, ' ');
}

/** Escapes the characters of JSON that YAML does not allow. */
function escaped(text: string): string {
  return text.replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
