import { isJsonObject } from '../patch/json-value.ts';

/** A path in rendered output: field names, and list elements as `[name]` or `[index]`. */
export type FieldPath = readonly string[];

/** Returns the name of a list element, or else its index, in brackets. */
export function elementName(element: unknown, index: number): string {
  return `[${isJsonObject(element) && typeof element.name === 'string' ? element.name : index}]`;
}

/** Formats a path, e.g. `spec.containers[web].image`. */
export function describePath(path: FieldPath): string {
  const text = path
    .map((name) =>
      name.startsWith('[') ? name : /^[A-Za-z0-9 ]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    )
    .join('')
    .replace(/^\./, '');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
