/** Stands for the value of an item that has none. A text with this character gets no marks. */
const mark = '\ue000';
const loneDash = /^((?:- | )*)-[ \t]*(?:(?<=[ \t])#.*)?$/gm;

/**
 * Marks list items without a value where js-yaml, unlike Go, would add the next items of an outer
 * list to the inner list: the next line has a dash at a smaller column.
 */
export function markLoneDashes(text: string): string {
  if (text.includes(mark)) return text;
  return text.replaceAll(loneDash, (line, before: string, at: number) => {
    const next = /\n( *)(?=[^ \t\r\n#])(-(?=\s|$))?/g;
    next.lastIndex = at + line.length;
    const [, spaces = '', dash] = next.exec(text) ?? [];
    const isMisread = dash !== undefined && spaces.length < before.length;
    return isMisread ? `${before}- ${mark}${line.slice(before.length + 1)}` : line;
  });
}

/** Returns what a marked text has without its marks. */
export function withoutMarks(value: unknown): unknown {
  if (typeof value === 'string') return isMark(value) ? null : value.replaceAll(` ${mark}`, '');
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutMarks(member)]));
}

export function isMark(value: unknown): boolean {
  return value === mark;
}

/** Returns a function that maps a position of a marked text to the text without marks. */
export function unmarkedPosition(marked: string): (at: number) => number {
  const added = new Uint32Array(marked.length + 1);
  for (let at = 0; at < marked.length; at += 1) added[at + 1] = (added[at] ?? 0) + (marked[at] === mark ? 2 : 0);
  return (at) => at - (added[Math.min(at, marked.length)] ?? 0);
}
