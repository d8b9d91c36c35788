import { FileError } from './file-error.ts';
import { positionsOfText, type SpanNode } from './positions-of-text.ts';

/** Texts that may have one of the problems below. */
const suspicious = [
  /^[ \-?:]*\t|\?|[[{,:]\s*:\S|[[{,]\s*:|\S:[,\]}]|^%|\\(?:\/|(?:u|U0000)[dD][89a-fA-F])/m,
  // Anchors, aliases and tags with unusual characters, or on the line of a key.
  /(?:^[ \t]*|[-:?]\s+|[[{,]\s*|[&!][^\s&!]*\s+)(?:[&*][\w-]*[^\w \t\r\n,\]}-]|![\w./:-]*[^\w\s./:-]|!!?(?:\s|$))/m,
  /(?:^|[\s[{,])[&!][^\s:,}[{]*[ \t]*[:,}]|:[ \t]+[&!][^\n]*:(?:\s|$)/m,
  // Keys in brackets, and keys behind the end of a value of several lines.
  /[\]}]\s*:(?:\s|$)|\{\s*[{[]|,\s*\[/m,
  /^(?:[^"\n]*[^\s:,[{"-])?[ \t]*"[ \t]*[^\s"\]},:#][^\n]*:(?:\s|$)/m,
  /^(?:[^'\n]*[^\s:,[{'-])?[ \t]*'[ \t]*[^\s'\]},:#][^\n]*:(?:\s|$)/m,
  /^[^[{\]}\n]*[\]}][ \t]*[^\s\]},:#][^\n]*:(?:\s|$)/m,
];

const tab = 'kubectl refuses a tab as indentation; write spaces';
const property = 'kubectl refuses this character in an anchor or tag';
const otherwise = 'kubectl reads this in another way; write quotes';

/** A text that Go refuses or reads otherwise. */
interface Problem {
  readonly reason: string;
  readonly offset: number;
}

/**
 * Finds what this parser reads, and Go's parser does not, or otherwise.
 * @param text a document that this parser has read
 */
export function unlikeGo(text: string): Problem | undefined {
  if (!suspicious.some((pattern) => pattern.test(text))) return undefined;
  try {
    return new Search(text).first(positionsOfText(text));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { reason: otherwise, offset: 0 };
  }
}

class Search {
  readonly #text: string;
  readonly #problems: Problem[] = [];
  /** The scalars whose characters mean nothing, and the outermost brackets, in their order. */
  readonly #scalars: [start: number, end: number][] = [];
  readonly #flows: [start: number, end: number][] = [];

  constructor(text: string) {
    this.#text = text;
  }

  first(root: SpanNode): Problem | undefined {
    const [{ length }] = /^\ufeff?(?:---(?=\s))?/.exec(this.#text) ?? [''];
    this.#node(root, length, -1, false);
    const outside = masked(this.#text, this.#scalars);
    for (const [start, end] of this.#flows)
      this.#find(otherwise, /(?<=\S):[,\]}]|[[{,]\s*(?:\?(?:\S|\s*[\]},])|:)|:\s+[?:]\S/, start, end, outside);
    const block = masked(outside, this.#flows);
    this.#find(tab, /^[ \-?:]*\t/m, 0, block.length, block);
    this.#find('kubectl refuses directives; remove the line', /^%/m, 0, block.length, block);
    return this.#problems.sort((one, other) => one.offset - other.offset)[0];
  }

  #find(reason: string, pattern: RegExp, start: number, end: number, text = this.#text): void {
    const found = pattern.exec(text.slice(start, end));
    if (found !== null) this.#problems.push({ reason, offset: start + found.index });
  }

  /** @param from where anchors and tags of the node may start, in a block at this column */
  #node(node: SpanNode, from: number, column: number, isInFlow: boolean): void {
    const { start, end, kind, isFlow } = node;
    this.#properties(from, kind === 'alias' ? end : start);
    if (kind !== 'alias' && end > start) this.#find(property, /[^ \t\r\n]$/, from, start);
    if (kind === 'scalar') this.#scalar(node, from, column, isInFlow);
    if (isFlow && !isInFlow) this.#flows.push([start, end]);
    if (!isInFlow && (isFlow || (kind === 'scalar' && /["']/.test(this.#text.charAt(start)))))
      this.#find('kubectl refuses what follows on this line; move it down', /^[ \t]*[^\s#]/, end, this.#text.length);
    const inner = isFlow || kind === 'pair' ? column : node.column;
    const isBlock = kind === 'map' && !isFlow;
    for (const { start: key, from: next, value } of node.entries) {
      if (kind !== 'list') this.#key(key, next, inner, isInFlow || !isBlock);
      if (isBlock && value.kind === 'map' && !value.isFlow)
        this.#find('kubectl refuses a map on the line of its key; move it down', /^[^\n]*$/, next, value.start);
      this.#node(value, next, inner, isInFlow || isFlow);
    }
  }

  #scalar({ start, end }: SpanNode, from: number, column: number, isInFlow: boolean): void {
    const mark = end > start ? this.#text.charAt(start) : '';
    if (mark === '') this.#find(otherwise, /!\s*$/, from, start);
    else if (/["'|>]/.test(mark)) {
      this.#scalars.push([start, end]);
      this.#find(tab, /^[|>][+-]?[ \t]*(?:#.*)?\r?\n(?: *\r?\n)* *\t/, start, end);
      const escape = /(?<!\\)(?:\\\\)*\\(?:\/|(?:u|U0000)[dD][89a-fA-F])/;
      if (mark === '"') this.#find('kubectl refuses this escape; write the character itself', escape, start, end);
    } else {
      const below = this.#plain(start, end, column, isInFlow);
      if (!isInFlow) this.#scalars.push([start, Math.max(end, this.#text.lastIndexOf('\n', below - 1))]);
    }
  }

  /** @param from the position after the colon, or after the key if it has no colon */
  #key(start: number, from: number, column: number, isInFlow: boolean): void {
    const end = this.#text[from - 1] === ':' ? from - 1 : from;
    const [marks = ''] = /^(?:\?(?=\s)\s*)?(?:[&!]\S*\s*)*/.exec(this.#text.slice(start, end)) ?? [];
    const own = start + marks.length;
    this.#find('kubectl refuses a key that is not a text; write quotes', /^(?:[[{]|-\s|$)/, own, end);
    this.#properties(start + (marks.startsWith('?') ? 1 : 0), own);
    if (isInFlow && !/["'?]/.test(this.#text.charAt(own))) this.#plain(own, end, column, true);
  }

  #properties(from: number, to: number): void {
    const text = this.#text.slice(from, to).replaceAll(/(?<!\S)#.*/g, (comment) => ' '.repeat(comment.length));
    const unusual = /(?<![^ \t\r\n])(?!(?:[&*][\w-]+|!|!!?[\w./:-]+)(?![^ \t\r\n]))[^ \t\r\n]/;
    const found = unusual.exec(text);
    if (found !== null) this.#problems.push({ reason: property, offset: from + found.index });
  }

  /** Checks a scalar without quotes. Returns where the next text starts. */
  #plain(start: number, end: number, column: number, isInFlow: boolean): number {
    const text = this.#text;
    let below = end;
    while (below < text.length && ' \t\r\n'.includes(text.charAt(below))) below += 1;
    for (const { index, 1: spaces = '' } of text.slice(start, below).matchAll(/\n( *)\t/g))
      if (spaces.length <= column) this.#problems.push({ reason: tab, offset: start + index + 1 });
    if (isInFlow) this.#find('kubectl refuses a question mark in brackets; write quotes', /(?<=.)\?/s, start, end);
    return below;
  }
}

/** Replaces parts, which are in their order, by as many x. */
function masked(text: string, spans: readonly (readonly [start: number, end: number])[]): string {
  let at = 0;
  const parts = spans.map(([start, end]) => {
    const part = text.slice(at, start) + 'x'.repeat(end - start);
    at = end;
    return part;
  });
  return parts.join('') + text.slice(at);
}
