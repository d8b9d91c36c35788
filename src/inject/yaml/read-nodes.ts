import { type YamlToken, YamlScanner } from './scan-yaml.ts';
import { resolvePlain, scalarValue, UNSUPPORTED_KEY } from './plain-scalar.ts';

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
  /** What a scalar stands for; it may depend on its position. */
  readonly value: unknown;
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

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };
type OpenNode = Writable<SpanNode> & { entries: SpanEntry[] };

/** The maximum nesting of lists and mappings. */
const maxDepth = 500;

const endsOfBlock = ['?', ':', 'block end'];
const endsOfItem = ['-', 'block end'];
const endsOfIndentless = [...endsOfItem, '?', ':'];
const endsOfKeyInMap = [':', ',', '}'];
const endsOfKeyInList = [':', ',', ']'];
const endsOfDocument = ['---', '...', '%', 'end'];

const nothing = resolvePlain('');

/** Returns a node without a value. */
export function emptyNode(at: number): SpanNode {
  return openNode(at);
}

function openNode(at: number, hasAnchor = false): OpenNode {
  return { kind: 'scalar', isFlow: false, start: at, end: at, column: 0, entries: [], hasAnchor, value: nothing };
}

/**
 * Reads the first document of a text; undefined if there is none. The rest must be valid, too.
 * @throws YamlError
 */
export function readNodes(text: string, isJson = false): SpanNode | undefined {
  return new NodeReader(text, isJson).documents();
}

/** A port of the parser of Go's yaml.v2. */
class NodeReader {
  readonly #scanner: YamlScanner;
  readonly #anchors = new Map<string, SpanNode>();

  constructor(text: string, isJson: boolean) {
    this.#scanner = new YamlScanner(text, isJson);
  }

  documents(): SpanNode | undefined {
    let first: SpanNode | undefined;
    for (let isFirst = true; ; isFirst = false) {
      while (!isFirst && this.#is('...')) this.#scanner.take();
      if (this.#is('end')) return first;
      const isMarked = !isFirst || this.#isOneOf(['---', '%']);
      let after = 0;
      if (isMarked) {
        while (this.#is('%')) this.#scanner.take();
        const problem = isFirst
          ? 'did not find expected <document start>'
          : 'end of the stream or a document separator is expected';
        after = this.#expect('---', problem).end;
      }
      this.#anchors.clear();
      const isEmpty = isMarked && this.#isOneOf(endsOfDocument);
      const node = isEmpty ? emptyNode(after) : this.#node(true, false, after, 0);
      first ??= node;
    }
  }

  #is(type: YamlToken['type']): boolean {
    return this.#scanner.peek().type === type;
  }

  #isOneOf(types: readonly string[]): boolean {
    return types.includes(this.#scanner.peek().type);
  }

  #expect(type: YamlToken['type'], problem: string): YamlToken {
    const token = this.#scanner.peek();
    if (token.type !== type) throw this.#scanner.error(problem, token.start);
    return this.#scanner.take();
  }

  /** @param after where a node without a value is */
  #node(isBlock: boolean, mayBeItems: boolean, after: number, depth: number): SpanNode {
    const scanner = this.#scanner;
    let token = scanner.peek();
    if (depth >= maxDepth) throw scanner.error(`nesting exceeded ${maxDepth} levels`, token.start);
    if (token.type === '*') {
      scanner.take();
      const target = this.#anchors.get(token.text);
      if (target === undefined) throw scanner.error(`unidentified alias "${token.text}"`, token.start);
      return { ...openNode(token.start), end: token.end, kind: 'alias', target };
    }
    let [anchor, tag, end] = ['', '', after];
    while ((token.type === '&' && anchor === '') || (token.type === '!' && tag === '')) {
      if (token.type === '&') anchor = token.text;
      else tag = token.text;
      end = scanner.take().end;
      token = scanner.peek();
    }
    const { type, start, column } = token;
    const node = openNode(start, anchor !== '');
    if (anchor !== '') this.#anchors.set(anchor, node);
    if (type === 'scalar') {
      node.value = this.#scalar(token, tag);
      node.end = scanner.take().end;
    } else if (type === '[' || type === '{') {
      scanner.take();
      node.isFlow = true;
      node.kind = type === '[' ? 'list' : 'map';
      if (type === '[') this.#flowItems(node, depth + 1);
      else this.#flowMembers(node, depth + 1);
    } else if ((mayBeItems && type === '-') || (isBlock && (type === 'list' || type === 'map'))) {
      if (type !== '-') scanner.take();
      node.column = column;
      node.kind = type === 'map' ? 'map' : 'list';
      if (type === 'map') this.#members(node, depth + 1);
      else this.#items(node, type === '-', depth + 1);
      node.end = node.entries.at(-1)?.end ?? start;
    } else if (anchor === '' && tag === '') {
      throw scanner.error('did not find expected node content', start);
    } else {
      node.start = node.end = end;
      node.value = this.#scalar({ ...token, text: '', isPlain: true }, tag);
    }
    return node;
  }

  #scalar({ text, isPlain, start }: YamlToken, tag: string): unknown {
    const value = scalarValue(text, tag, isPlain);
    if (value === undefined) throw this.#scanner.error(`cannot decode ${JSON.stringify(text)} as ${tag}`, start);
    return value;
  }

  /** Returns a node, or one without a value if a token of a type follows. */
  #optional(types: readonly string[], isBlock: boolean, after: number, depth: number): SpanNode {
    return this.#isOneOf(types) ? emptyNode(after) : this.#node(isBlock, isBlock, after, depth);
  }

  /** @param isIndentless whether the dashes are at the column of the key */
  #items(list: OpenNode, isIndentless: boolean, depth: number): void {
    for (;;) {
      if (!this.#is('-')) {
        if (!isIndentless) this.#expect('block end', "did not find expected '-' indicator");
        return;
      }
      const { start, end: from } = this.#scanner.take();
      const isEmpty = this.#isOneOf(isIndentless ? endsOfIndentless : endsOfItem);
      const value = isEmpty ? emptyNode(from) : this.#node(true, false, from, depth);
      list.entries.push({ key: '', start, from, value, end: Math.max(from, value.end) });
    }
  }

  #members(map: OpenNode, depth: number): void {
    while (!this.#is('block end')) {
      const { start, end } = this.#expect('?', 'did not find expected key');
      const key = this.#optional(endsOfBlock, true, end, depth);
      map.entries.push(this.#member(start, key, endsOfBlock, true, depth));
    }
    this.#scanner.take();
  }

  #member(start: number, key: SpanNode, ends: readonly string[], isBlock: boolean, depth: number): SpanEntry {
    const from = this.#is(':') ? this.#scanner.take().end : undefined;
    const value = from === undefined ? emptyNode(key.end) : this.#optional(ends, isBlock, from, depth);
    const after = from ?? key.end;
    return { key: this.#nameOf(key), start, from: after, value, end: Math.max(after, value.end) };
  }

  #nameOf(key: SpanNode): string {
    const { kind, value, start } = key.target ?? key;
    const name = kind === 'scalar' ? String(value) : UNSUPPORTED_KEY;
    if (name !== UNSUPPORTED_KEY) return name;
    const reason = kind === 'scalar' ? 'null or a 64-bit number' : 'a list or a map';
    throw this.#scanner.error(`invalid map key: ${reason}; write quotes`, start);
  }

  #flowMembers(map: OpenNode, depth: number): void {
    for (let isFirst = true; !this.#is('}'); isFirst = false) {
      if (!isFirst) this.#expect(',', "did not find expected ',' or '}'");
      if (this.#is('}')) break;
      const isKey = this.#is('?');
      const { start, end } = this.#scanner.peek();
      if (isKey) this.#scanner.take();
      const key = isKey ? this.#optional(endsOfKeyInMap, false, end, depth) : this.#node(false, false, end, depth);
      const member = isKey ? this.#member(start, key, endsOfKeyInMap.slice(1), false, depth) : undefined;
      map.entries.push(
        member ?? { key: this.#nameOf(key), start, from: key.end, value: emptyNode(key.end), end: key.end },
      );
    }
    map.end = this.#scanner.take().end;
  }

  #flowItems(list: OpenNode, depth: number): void {
    for (let isFirst = true; !this.#is(']'); isFirst = false) {
      if (!isFirst) this.#expect(',', "did not find expected ',' or ']'");
      if (this.#is(']')) break;
      const { start, end } = this.#scanner.peek();
      if (this.#is('?')) {
        this.#scanner.take();
        const isEmpty = this.#isOneOf(endsOfKeyInList);
        // Go drops the token that follows a missing key.
        if (isEmpty) this.#scanner.take();
        const key = isEmpty ? emptyNode(end) : this.#node(false, false, end, depth);
        const member = this.#member(start, key, endsOfKeyInList.slice(1), false, depth);
        const pair: SpanNode = { ...openNode(start), kind: 'pair', end: member.end, entries: [member] };
        list.entries.push({ key: '', start, from: start, value: pair, end: member.end });
      } else {
        const value = this.#node(false, false, end, depth);
        list.entries.push({ key: '', start, from: start, value, end: value.end });
      }
    }
    list.end = this.#scanner.take().end;
  }
}
