/** Up to here the engine's own search is fast enough, whatever the texts are. */
const shortPart = 32;

/**
 * How many characters of a part match where `matched` did and one more follows (Knuth, Morris and Pratt).
 * @param borders for each beginning of the part the length of its longest border
 */
function extend(part: string, borders: Int32Array, matched: number, code: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] as number;
  return part.charCodeAt(length) === code ? length + 1 : length;
}

/** `text.split(separator)` for a separator that is not empty, in the time of both lengths, not of their product. */
export function splitAt(text: string, separator: string): string[] {
  if (separator.length <= shortPart) return text.split(separator);
  const borders = new Int32Array(separator.length);
  for (let at = 1; at < separator.length; at += 1)
    borders[at] = extend(separator, borders, borders[at - 1] as number, separator.charCodeAt(at));
  const parts: string[] = [];
  let from = 0;
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    matched = extend(separator, borders, matched, text.charCodeAt(at));
    if (matched < separator.length) continue;
    parts.push(text.slice(from, at + 1 - matched));
    from = at + 1;
    matched = 0;
  }
  parts.push(text.slice(from));
  return parts;
}

/** `text.includes(part)`, in linear time too. */
export function includesPart(text: string, part: string): boolean {
  return part.length <= shortPart ? text.includes(part) : splitAt(text, part).length > 1;
}
