import { FileError, positionAt } from './file-error.ts';
import { type YamlEvent, yamlEvents } from '../yaml/parse-yaml.ts';

/** A value in a text, with its place. Offsets count from the start of the text. */
export interface SpanNode {
  /** A pair is a member of a list in brackets, as in `[a: b]`. */
  readonly kind: 'map' | 'list' | 'pair' | 'scalar' | 'alias';
  readonly isFlow: boolean;
  /** Where the content starts, after anchors and tags, and where it ends. */
  readonly start: number;
  readonly end: number;
  /** The column of the keys or dashes of a block collection. */
  readonly column: number;
  readonly entries: readonly SpanEntry[];
  readonly hasAnchor: boolean;
  /** The node that an alias stands for. */
  readonly target?: SpanNode;
}

export interface SpanEntry {
  /** The name of a member as Go reads it, or MERGE_KEY and a number; empty for an item. */
  readonly key: string;
  /** The first character of the key, of the dash, or of the item in brackets. */
  readonly start: number;
  /** The position after the colon or dash. */
  readonly from: number;
  readonly value: SpanNode;
  readonly end: number;
}

/** Finds the positions of all values of a valid document. @throws FileError */
export function positionsOfText(text: string): SpanNode {
  return new Positions(text).node(yamlEvents(text) ?? nothing, 0);
}

/** Returns the node at a path, or the nearest around it, and where it starts with its key. */
export function locate(root: SpanNode, path: readonly (string | number)[]) {
  let [node, start] = [root, root.start];
  for (const name of path) {
    const isList = node.kind === 'list';
    const entry = isList ? node.entries[Number(name)] : node.entries.findLast(({ key }) => key === name);
    if (entry === undefined) return { node, start, isFound: false };
    start = isList ? entry.value.start : entry.start;
    node = entry.value;
  }
  return { node, start, isFound: true };
}

/** Returns the keys that occur twice in a map, of which Go reads the last. */
export function repeatedKeys({ kind, entries }: SpanNode): SpanEntry[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) =>
    kind === 'map' && seen.size === seen.add(entry.key).size ? [entry] : repeatedKeys(entry.value),
  );
}

const nothing: YamlEvent = { from: 0, to: 0, kind: null, name: '', children: [] };

function emptyNode(at: number): SpanNode {
  return { kind: 'scalar', isFlow: false, start: at, end: at, column: 0, entries: [], hasAnchor: false };
}

class Positions {
  readonly #text: string;
  readonly #anchors = new Map<string, SpanNode>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the node of an event. @param after where an empty node is */
  node(event: YamlEvent, after: number): SpanNode {
    const [first] = event.children;
    const isCollection = event.kind === 'mapping' || event.kind === 'sequence';
    const limit = isCollection && first !== undefined ? first.from : this.#text.length;
    const { start, end: propertyEnd, anchor } = this.#properties(event.from, limit);
    // The parser reads what is not a block mapping in a second step.
    if (isCollection && event.children.length === 1 && first !== undefined && this.#text[start] !== '-') {
      const inner = this.#properties(first.from, limit);
      if (inner.start === start) return this.#keep(anchor, this.node(first, after));
    }
    return this.#keep(anchor, this.#content(event, start, propertyEnd ?? after));
  }

  #content(event: YamlEvent, start: number, empty: number): SpanNode {
    const { kind, to } = event;
    const text = this.#text;
    const character = text.charAt(start);
    const scalar = { ...emptyNode(start), end: to };
    if (kind === null && character === '*') {
      const name = /^[^\s,[\]{}]+/.exec(text.slice(start + 1, to))?.[0] ?? '';
      const target = this.#anchors.get(name);
      return { ...scalar, kind: 'alias', end: start + 1 + name.length, ...(target && { target }) };
    }
    if (kind === null) return emptyNode(empty);
    if (kind === 'scalar') return { ...scalar, end: this.#endOfScalar(start, to) };
    const isMap = kind === 'mapping';
    const shape = { ...scalar, kind: isMap ? 'map' : 'list' } as const;
    if (character === '{' || character === '[') {
      const entries = isMap ? this.#members(event, start, true) : this.#flowItems(event);
      return { ...shape, isFlow: true, entries };
    }
    const column = this.#columnOf(start);
    const entries = isMap ? this.#members(event, start, false) : this.#items(event, start, column);
    return { ...shape, column, entries, end: entries.at(-1)?.end ?? start };
  }

  #keep(anchor: string | undefined, node: SpanNode): SpanNode {
    if (anchor === undefined) return node;
    const kept = { ...node, hasAnchor: true };
    this.#anchors.set(anchor, kept);
    return kept;
  }

  /** Returns the next position that is neither space nor comment. */
  #skip(from: number): number {
    const text = this.#text;
    let at = from === 0 && text.startsWith('\ufeff') ? 1 : from;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x23 && (at === 0 || /[\s\ufeff,[\]{}]/.test(text.charAt(at - 1)))) {
        const end = text.indexOf('\n', at);
        if (end < 0) return text.length;
        at = end;
      } else if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    }
    return at;
  }

  #properties(from: number, limit: number) {
    let anchor: string | undefined;
    let end: number | undefined;
    let start = this.#skip(from);
    while (start < limit && (this.#text[start] === '&' || this.#text[start] === '!')) {
      const [token = ''] = /^[^\s,[\]{}]+/.exec(this.#text.slice(start, start + 1000)) ?? [];
      if (token.startsWith('&')) anchor = token.slice(1);
      end = start + token.length;
      start = this.#skip(end);
    }
    return { start, end, anchor };
  }

  /** The parser has read the spaces after a scalar, and the empty lines below a literal. */
  #endOfScalar(start: number, to: number): number {
    const text = this.#text;
    let end = Math.min(to, text.length);
    const isKept = /^[|>]\d?\+/.test(text.slice(start, start + 3));
    const isBlock = text[start] === '|' || text[start] === '>';
    // The parser has read the indentation of the next line. A line of spaces may be content.
    if (isBlock && end < text.length) end = text.lastIndexOf('\n', end - 1) + 1;
    const blank = isKept ? '' : isBlock ? '\r\n' : ' \t\r\n';
    while (end > start && blank.includes(text.charAt(end - 1))) end -= 1;
    return isKept && text[end - 1] === '\n' ? end - 1 : end;
  }

  #members({ children }: YamlEvent, start: number, isFlow: boolean): SpanEntry[] {
    const entries: SpanEntry[] = [];
    for (let index = 0; index < children.length; index += 1) {
      const key = children[index] ?? nothing;
      const colon = this.#skip(key.to);
      // In braces, a key may have no colon.
      const value = this.#text[colon] === ':' ? children[(index += 1)] : undefined;
      if (value === undefined && !isFlow) throw this.#unknown(start);
      const from = value === undefined ? key.to : colon + 1;
      const at = this.#skip(isFlow ? key.from : (entries.at(-1)?.end ?? start));
      entries.push(this.#entry(key.name, at, from, value ?? { ...nothing, from }));
    }
    return entries;
  }

  #entry(name: string, start: number, from: number, event: YamlEvent): SpanEntry {
    const value = this.node(event, from);
    return { key: name, start, from, value, end: Math.max(from, value.end) };
  }

  #unknown(offset: number): FileError {
    return new FileError('its positions are not known', positionAt(this.#text, offset).line);
  }

  #columnOf(offset: number): number {
    const lineStart = this.#text.lastIndexOf('\n', offset - 1) + 1;
    return offset - lineStart - (this.#text[lineStart] === '\ufeff' ? 1 : 0);
  }

  #items({ children }: YamlEvent, start: number, column: number): SpanEntry[] {
    const entries: SpanEntry[] = [];
    let index = 0;
    for (let dash = start; this.#isDash(dash) && this.#columnOf(dash) === column;) {
      const from = dash + 1;
      const item = children[index];
      // An item without a value is not an event.
      const hasValue = item !== undefined && this.#skip(from) === this.#skip(item.from);
      if (hasValue) index += 1;
      entries.push(
        hasValue
          ? this.#entry('', dash, from, item)
          : { key: '', start: dash, from, value: emptyNode(from), end: from },
      );
      dash = this.#skip(entries.at(-1)?.end ?? from);
    }
    if (index < children.length) throw this.#unknown(start);
    return entries;
  }

  #isDash(offset: number): boolean {
    return this.#text[offset] === '-' && /^\s?$/.test(this.#text.charAt(offset + 1));
  }

  #flowItems({ children }: YamlEvent): SpanEntry[] {
    const entries: SpanEntry[] = [];
    for (let index = 0; index < children.length; index += 1) {
      const key = children[index] ?? nothing;
      const start = this.#skip(key.from);
      const own = this.#entry('', start, start, key);
      const colon = this.#skip(own.end);
      if (this.#text[colon] !== ':') {
        entries.push(own);
        continue;
      }
      index += 1;
      const member = this.#entry(key.name, start, colon + 1, children[index] ?? nothing);
      const value: SpanNode = { ...emptyNode(start), kind: 'pair', end: member.end, entries: [member] };
      entries.push({ ...own, value, end: member.end });
    }
    return entries;
  }
}
