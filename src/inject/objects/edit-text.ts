import { jsonEqual } from '../patch/json-equal.ts';
import { pairItems } from '../patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { positionsOfText } from './positions-of-text.ts';
import type { SpanEntry, SpanNode } from '../yaml/read-nodes.ts';
import { MERGE_KEY } from '../yaml/plain-scalar.ts';
import { valueOfNode } from '../yaml/value-of-node.ts';
import { entryLines, flowValue } from './write-value.ts';
import { FileError, positionAt } from './file-error.ts';

export interface EditedText {
  readonly text: string;
  /** Where an alias or a merge key was replaced by what it stands for. */
  readonly writtenOut: readonly number[];
  /** Where values were written. */
  readonly written: readonly number[];
  /** The scalars that were replaced, if the reverse edit would write one of them in another way. */
  readonly lost: WrittenValues;
}

/** Values of scalars with the texts that an author wrote for them, in their order. */
export type WrittenValues = readonly (readonly [value: unknown, text: string])[];

/**
 * Changes a document from one value to another by edits of its text, so that everything else keeps
 * its bytes. @param text a document that Go has read as `before`. @throws FileError
 */
export function editedText(text: string, before: unknown, after: unknown, texts: WrittenValues = []): EditedText {
  return new TextEditor(text, texts).edited(before, after);
}

/** Integers that may be beyond 2^53. Reading the edited text again finds those inside a text. */
const largeInteger = /(?<![\w.-])-?\d{16,}(?![\w.])/g;

type Edit = readonly [start: number, end: number, text: string];

class TextEditor {
  readonly #text: string;
  readonly #root: SpanNode;
  readonly #lineEnd: string;
  readonly #edits: Edit[] = [];
  readonly #changed = new Set<SpanNode>();
  readonly #writtenOut: number[] = [];
  readonly #texts: WrittenValues[number][];
  readonly #replaced: WrittenValues[number][] = [];
  #isLost = false;
  #integers: ReadonlyMap<number, string> | undefined;

  constructor(text: string, texts: WrittenValues) {
    this.#text = text;
    this.#texts = [...texts];
    this.#root = positionsOfText(text);
    this.#lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  }

  edited(before: unknown, after: unknown): EditedText {
    this.#node(this.#root, before, after);
    if (this.#changed.size > 0) this.#writeOut(this.#root);
    let result = '';
    let at = 0;
    // The sort keeps the order of edits at one place; what is inside a removed part goes with it.
    const length = ([start, end]: Edit): number => Math.min(end - start, 1);
    const inOrder = this.#edits.sort((one, other) => one[0] - other[0] || length(one) - length(other));
    for (const [start, end, text] of inOrder) {
      if (start < at) continue;
      result += this.#text.slice(at, start);
      // A text without a last line break stays without, if its last lines are removed.
      if (text === '' && end > start && end === this.#text.length && !this.#text.endsWith('\n'))
        result = result.replace(/\r?\n$/, '');
      result += text;
      at = end;
    }
    const written = inOrder.flatMap(([start, , text]) => (text === '' ? [] : [start]));
    const lost = this.#isLost ? this.#replaced : [];
    return { text: result + this.#text.slice(at), writtenOut: this.#writtenOut, written, lost };
  }

  #node(node: SpanNode, before: unknown, after: unknown, parent?: SpanNode, entry?: SpanEntry): void {
    if (before === after) return;
    const count = this.#edits.length;
    const isMap = node.kind === 'map' && isJsonObject(before) && isJsonObject(after);
    const isList = node.kind === 'list' && Array.isArray(before) && Array.isArray(after);
    // Braces that get empty keep their spaces.
    const isKept = (length: number): boolean => length > 0 || this.#hasNoLastComma(node);
    if (isMap && isKept(Object.keys(after).length)) this.#map(node, before, after, parent, entry);
    else if (isList && isKept(after.length)) this.#list(node, before, after);
    else if (!jsonEqual(before, after)) this.#replace(node, before, after, parent, entry);
    if (this.#edits.length > count && node.hasAnchor) this.#changed.add(node);
  }

  #hasNoLastComma({ isFlow, entries, end }: SpanNode): boolean {
    const last = entries.at(-1);
    return isFlow && last !== undefined && !this.#text.slice(last.end, end).includes(',');
  }

  #map(node: SpanNode, before: JsonObject, after: JsonObject, parent?: SpanNode, entry?: SpanEntry): void {
    const merge = node.entries.findLastIndex(({ key }) => key.startsWith(MERGE_KEY));
    const added: [string, unknown][] = [];
    const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key) || after[key] === undefined);
    if (removed.length > 0 && merge >= 0) {
      this.#writtenOut.push(node.start);
      this.#replace(node, before, after, parent, entry);
      return;
    }
    const gone = node.entries.filter(({ key }) => removed.includes(key));
    this.#remove(node, gone);
    for (const [key, value] of Object.entries(after)) {
      if (value === undefined || before[key] === value) continue;
      const index = node.entries.findLastIndex((each) => each.key === key);
      const own = node.entries[index];
      if (own !== undefined && Object.hasOwn(before, key) && index > merge)
        this.#node(own.value, before[key], value, node, own);
      else if (!Object.hasOwn(before, key) || !jsonEqual(before[key], value)) {
        if (Object.hasOwn(before, key) && merge >= 0) this.#writtenOut.push(node.start);
        added.push([key, value]);
      }
    }
    const last = node.entries.at(-1);
    const isEmpty = node.entries.length === gone.length;
    for (const [key, value] of added) {
      if (node.isFlow) this.#insertFlow(node, last, isEmpty, `${flowValue(key)}: ${this.#flow(value)}`);
      else this.#insertLines(last?.end ?? node.end, this.#lines(key, value, node.column));
    }
  }

  #list(node: SpanNode, before: readonly unknown[], after: readonly unknown[]): void {
    const isSame = (one: unknown, other: unknown): boolean =>
      one === other || (isJsonObject(one) && isJsonObject(other) && one.name === other.name);
    const isInPlace = before.length === after.length && before.every((item, index) => isSame(item, after[index]));
    const pairs = isInPlace ? [...before.keys()].map((at) => ({ before: at, after: at })) : pairItems(before, after);
    const keptBefore = new Map(pairs.map((pair) => [pair.before, pair.after]));
    const keptAfter = new Map(pairs.map((pair) => [pair.after, pair.before]));
    const removed = node.entries.filter((_, index) => !keptBefore.has(index));
    for (const { before: from, after: to } of pairs) {
      const entry = node.entries[from];
      if (entry !== undefined) this.#node(entry.value, before[from], after[to], node, entry);
    }
    this.#remove(node, removed);
    const isEmpty = removed.length === node.entries.length;
    let previous: SpanEntry | undefined;
    for (const [index, item] of after.entries()) {
      const kept = keptAfter.get(index);
      if (kept !== undefined) {
        previous = node.entries[kept];
        continue;
      }
      if (node.isFlow) this.#insertFlow(node, previous, isEmpty, this.#flow(item));
      else this.#insertItem(node, previous, this.#lines(undefined, item, node.column));
    }
  }

  #insertItem(node: SpanNode, previous: SpanEntry | undefined, lines: readonly string[]): void {
    const first = node.entries[0];
    if (previous !== undefined || first === undefined) {
      this.#insertLines(previous?.end ?? node.end, lines);
      return;
    }
    let at = this.#lineStart(first.start);
    // The comments above the first item stay with it.
    while (
      at > 0 &&
      this.#text
        .slice(this.#lineStart(at - 1), at)
        .trimStart()
        .startsWith('#')
    )
      at = this.#lineStart(at - 1);
    this.#edits.push([at, at, lines.map((line) => `${line}${this.#lineEnd}`).join('')]);
  }

  #lineStart(offset: number): number {
    return offset === 0 ? 0 : this.#text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** Inserts lines below the line of an offset. A file without a last line break stays without. */
  #insertLines(offset: number, lines: readonly string[]): void {
    const end = this.#text.indexOf('\n', offset) + 1;
    const text = lines.join(this.#lineEnd);
    // A carriage return at the end of a file is half a line break.
    const lineEnd = this.#text.endsWith('\r') ? '\r\n' : this.#lineEnd;
    if (end > 0) this.#edits.push([end, end, `${text}${this.#lineEnd}`]);
    else this.#edits.push([this.#text.length, this.#text.length, `${lineEnd}${text}`]);
  }

  #insertFlow(node: SpanNode, previous: SpanEntry | undefined, isEmpty: boolean, text: string): void {
    const beside = previous ?? node.entries[0];
    const inside = node.start + 1;
    if (beside === undefined || isEmpty) {
      const isFirst = !this.#edits.some(([start, end]) => start === end && start === inside);
      this.#edits.push([inside, inside, isFirst ? text : `, ${text}`]);
    } else if (previous === undefined) this.#edits.push([beside.start, beside.start, `${text}, `]);
    else this.#edits.push([previous.end, previous.end, `, ${text}`]);
  }

  /** Removes entries of a collection of which others stay, or get added. */
  #remove(node: SpanNode, removed: readonly SpanEntry[]): void {
    const text = this.#text;
    const all = node.entries;
    const gone = new Set(removed);
    for (const entry of removed) {
      this.#markAnchors(entry.value);
      const index = all.indexOf(entry);
      const next = all.find((each, at) => at > index && !gone.has(each));
      const hasKept = all.some((each, at) => at < index && !gone.has(each));
      const lineStart = this.#lineStart(entry.start);
      if (node.isFlow && hasKept) this.#edits.push([all[index - 1]?.end ?? 0, entry.end, '']);
      else if (node.isFlow) this.#edits.push([entry.start, next?.start ?? all.at(-1)?.end ?? entry.end, '']);
      else if (text.slice(lineStart, entry.start).trim() !== '') {
        // The first key on the line of a dash: the next key takes its place.
        this.#edits.push([entry.start, next?.start ?? entry.end, '']);
      } else {
        this.#edits.push([lineStart, text.indexOf('\n', entry.end) + 1 || text.length, '']);
      }
    }
  }

  /** Aliases of what disappears must be written out. */
  #markAnchors(node: SpanNode): void {
    if (node.hasAnchor) this.#changed.add(node);
    for (const { value } of node.entries) this.#markAnchors(value);
  }

  #replace(node: SpanNode, before: unknown, after: unknown, parent?: SpanNode, entry?: SpanEntry): void {
    const text = this.#text;
    const { kind, isFlow, start, end } = node;
    if (parent?.kind === 'map' && entry !== undefined && text[entry.from - 1] !== ':')
      throw new FileError('a key without a colon has no place for a value', positionAt(text, entry.start).line);
    if (kind === 'alias') this.#writtenOut.push(start);
    else this.#markAnchors(node);
    const from = entry?.from ?? start;
    const lineEnd = kind === 'scalar' || isFlow ? -1 : text.slice(from, start).search(/\r?\n/);
    const written = this.#scalar(node, from, before, after, parent?.isFlow ?? isFlow);
    if (written !== undefined) {
      if (lineEnd >= 0) this.#edits.push([from, from, written], [from + lineEnd, end, '']);
      else if (start < end && written !== '') this.#edits.push([start, end, written]);
      else this.#edits.push([from, end, ` ${written}`.trimEnd()]);
      return;
    }
    if (parent === undefined || entry === undefined || parent.isFlow) {
      const space = node.start === node.end && parent?.kind === 'map' ? ' ' : '';
      this.#edits.push([node.start, node.end, `${space}${this.#flow(after)}`]);
      return;
    }
    const key = parent.kind === 'list' ? undefined : 'a';
    const [line = '', ...lines] = this.#lines(key, after, parent.column);
    const first = ` ${line.trimStart().slice(2).trimStart()}`.trimEnd();
    if (lines.length > 0 && !text.slice(entry.from, node.end).includes('\n')) {
      // A comment on the line stays there.
      const lineEnd = text.indexOf('\n', node.end);
      const at = lineEnd < 0 ? text.length : lineEnd - (text[lineEnd - 1] === '\r' ? 1 : 0);
      this.#edits.push([entry.from, node.end, first]);
      this.#edits.push([at, at, lines.map((line) => `${this.#lineEnd}${line}`).join('')]);
    } else {
      this.#edits.push([entry.from, node.end, [first, ...lines].join(this.#lineEnd)]);
    }
  }

  /** Returns how to write a scalar in place of a node; undefined if it needs lines of its own. */
  #scalar(node: SpanNode, from: number, before: unknown, after: unknown, isInFlow: boolean): string | undefined {
    const known = this.#texts.findIndex(([value]) => value === after);
    if (known >= 0) return this.#texts.splice(known, 1)[0]?.[1];
    if (node.kind !== 'scalar') return undefined;
    const isBelow = !isInFlow && typeof after === 'object' && after !== null;
    const own = this.#text.slice(isBelow ? from : node.start, node.end);
    const written = own === '' ? undefined : inStyleOf(own, before, after, isInFlow);
    this.#replaced.push([before, own]);
    this.#isLost ||= written === undefined || inStyleOf(written, after, before, isInFlow) !== own;
    return written && this.#exact(written);
  }

  #flow(value: unknown): string {
    return this.#exact(flowValue(value));
  }

  #lines(key: string | undefined, value: unknown, column: number): string[] {
    return entryLines(key, value, column).map((line) => this.#exact(line));
  }

  /** Restores the digits of the text's integers that a number has rounded. */
  #exact(written: string): string {
    return written.replaceAll(largeInteger, (rounded) => {
      this.#integers ??= integersIn(this.#text);
      const texts = this.#integers.get(Number(rounded)) ?? rounded;
      if (!texts.includes(' ')) return texts;
      throw new FileError(`the integers ${texts} are equal when rounded; put them in quotes`);
    });
  }

  /** Replaces the aliases of changed nodes by the values that these had. */
  #writeOut({ entries }: SpanNode): void {
    for (const { value } of entries) {
      const { target, start, end } = value;
      if (target === undefined || !this.#changed.has(target)) this.#writeOut(value);
      else {
        this.#writtenOut.push(start);
        this.#edits.push([start, end, this.#flow(valueOfNode(target))]);
      }
    }
  }
}

/** Returns the large integers of a text by their rounded values; "A and B" if these are equal. */
function integersIn(text: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const integer of text.match(largeInteger) ?? []) {
    const same = found.get(Number(integer));
    if (same?.includes(integer) !== true)
      found.set(Number(integer), same === undefined ? integer : `${same} and ${integer}`);
  }
  return found;
}

/** Writes a value in the style of the scalar that it replaces; undefined if it needs more lines. */
function inStyleOf(scalar: string, before: unknown, after: unknown, isInFlow: boolean): string | undefined {
  if (typeof after === 'object' && after !== null) return undefined;
  if (typeof after === 'string' && scalar.startsWith('"')) return flowValue(after);
  if (typeof after === 'string' && scalar.startsWith("'") && /^[\x20-\x7e]*$/.test(after))
    return `'${after.replaceAll("'", "''")}'`;
  const [line = '', ...more] = entryLines(undefined, after, 0);
  const written = line.slice(2);
  // JSON has no text without quotes.
  const isPlain = typeof before === 'string' && /^[\w./]/.test(scalar) && /^[\w./-]+$/.test(written);
  if (isInFlow && !isPlain) return flowValue(after);
  return more.length === 0 && written !== '' ? written : undefined;
}
