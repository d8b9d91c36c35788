/** Where the items of a List seem to stand in its text, which was not read yet. */
export interface ListText {
  readonly isJson: boolean;
  /** The position of the key `items`. */
  readonly key: number;
  /** Where each item starts and ends, in turn. In YAML, it starts with the line of its dash. */
  readonly bounds: readonly number[];
  /** The text without its items. */
  readonly rest: string;
}

/** Finds the end of the JSON object at the start of a text; undefined if there is none. */
export function scanJson(text: string): { readonly end: number; readonly list?: ListText } | undefined {
  const start = text.search(/\S/);
  if (text[start] !== '{') return undefined;
  const bounds: number[] = [];
  let [depth, name, key, open, close] = [0, 0, -1, -1, -1];
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      if (depth === 1) name = at;
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    } else if (character === '{' || character === '[') {
      if (depth === 2 && open > close) bounds.push(at);
      if (depth === 1 && key < 0 && character === '[' && text.startsWith('"items"', name)) {
        key = name;
        open = at + 1;
      }
      depth += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 2 && open > close) bounds.push(at + 1);
      if (depth === 1 && open > close) close = at;
      if (depth > 0) continue;
      const end = at + 1;
      if (bounds.length === 0 || !areSeparated(text, open, close, bounds)) return { end };
      return { end, list: { isJson: true, key, bounds, rest: text.slice(0, open) + text.slice(close, end) } };
    }
  }
  return undefined;
}

/** Reports whether only commas are between the items in brackets. */
function areSeparated(text: string, open: number, close: number, bounds: readonly number[]): boolean {
  let at = open;
  for (let index = 0; index <= bounds.length; index += 2) {
    const separator = index === 0 || index === bounds.length ? '' : ',';
    if (text.slice(at, bounds[index] ?? close).trim() !== separator) return false;
    at = bounds[index + 1] ?? close;
  }
  return true;
}

/** Finds the lines of a List's items in block style by their indentation. */
export function blockList(text: string): ListText | undefined {
  const key = /^items:[ \t]*(?:#.*)?\r?$/m.exec(text)?.index ?? -1;
  let at = key < 0 ? 0 : text.indexOf('\n', key) + 1;
  if (at === 0) return undefined;
  const bounds: number[] = [];
  let column = -1;
  for (let end: number; at < text.length; at = end) {
    end = text.indexOf('\n', at) + 1 || text.length;
    let first = at;
    while (text[first] === ' ') first += 1;
    if (first >= end || '\r\n#'.includes(text.charAt(first))) continue;
    if (column >= 0 && first - at > column) continue;
    if (text[first] !== '-' || !/\s|^$/.test(text.charAt(first + 1)) || first - at < column) break;
    column = first - at;
    if (bounds.length > 0) bounds.push(at);
    bounds.push(at);
  }
  const [start] = bounds;
  if (start === undefined) return undefined;
  bounds.push(at);
  return { isJson: false, key, bounds, rest: text.slice(0, start) + text.slice(at) };
}

/** Returns where each item starts and ends. */
export function* boundsOf({ bounds }: ListText): Generator<readonly [from: number, to: number]> {
  for (let index = 0; index + 1 < bounds.length; index += 2) yield [bounds[index] ?? 0, bounds[index + 1] ?? 0];
}
