/** Up to here the engine's own search is fast enough, whatever the texts are. */
const shortPart = 32;

/** Where a part begins in a text, at `from` or later; -1 when it does not. Takes time in the lengths of both, not in their product. */
function search(text: string, part: string, from: number, borders: Int32Array | undefined): number {
  if (borders === undefined) return text.indexOf(part, from);
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] as number;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched === part.length) return at + 1 - matched;
  }
  return -1;
}

/** For each beginning of a part the length of its longest border (Knuth, Morris and Pratt); none for a short part. */
function bordersOf(part: string): Int32Array | undefined {
  if (part.length <= shortPart) return undefined;
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    const code = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] as number;
    if (part.charCodeAt(length) === code) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** `text.includes(part)`, in linear time. */
export function includesPart(text: string, part: string): boolean {
  return search(text, part, 0, bordersOf(part)) >= 0;
}

/** `text.split(separator)` for a separator that is not empty, in linear time. */
export function splitAt(text: string, separator: string): string[] {
  const borders = bordersOf(separator);
  if (borders === undefined) return text.split(separator);
  const parts: string[] = [];
  let from = 0;
  for (let at = search(text, separator, 0, borders); at >= 0; at = search(text, separator, from, borders)) {
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  parts.push(text.slice(from));
  return parts;
}
