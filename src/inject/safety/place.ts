import { isJsonObject } from '../patch/json-value.ts';

/** Where a value stands in what templates render: names of fields, and elements of lists as `[name]` or `[index]`. */
export type Place = readonly string[];

/** How an element of a list is called: by its name, else by its index. */
export function elementName(element: unknown, index: number): string {
  return `[${isJsonObject(element) && typeof element.name === 'string' ? element.name : index}]`;
}

/** `spec.containers[web].image` */
export function describePlace(place: Place): string {
  const text = place
    .map((name) =>
      name.startsWith('[') ? name : /^[A-Za-z0-9 ]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    )
    .join('')
    .replace(/^\./, '');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
