import { isJsonObject } from '../patch/json-value.ts';
import { MERGE_KEY } from '../yaml/plain-scalar.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { documentsOfFile, type FileDocument, readYaml } from './documents-of-file.ts';
import { FileError, linesIn } from './file-error.ts';
import { boundsOf, type ListText } from './list-text.ts';
import { positionsOfText, repeatedKeys } from './positions-of-text.ts';
import { listItems } from './workload-kinds.ts';

/** A document of a file, or an item of a List, which needs only its own memory. */
export interface FilePart extends Pick<FileDocument, 'start' | 'text' | 'line'> {
  /** Whether the text is a list in block style that contains only the object. */
  readonly isItem: boolean;
  /** Returns the object. @throws FileError */
  readonly read: () => unknown;
}

/** An item cannot be read alone, or is no object or a List. It never leaves this file. */
class NotAlone extends Error {}

/** Errors of an item that its List may not have: an anchor, or a quote, is in another item. */
const needsOthers =
  /^(?:unidentified alias|found unexpected end|did not find expected ',' or|document contains excessive aliasing)/;

/**
 * Reads a file part by part. If an item of a List cannot be read or used alone, `use` gets the
 * whole List, and what it has returned for the items before is dropped.
 * @returns what `use` returns, for all parts
 */
export function mapParts<Result>(text: string, use: (part: FilePart) => readonly Result[]): Result[] {
  const results: Result[] = [];
  for (const document of documentsOfFile(text)) {
    const whole = { ...document, isItem: false };
    const { length } = results;
    try {
      for (const part of itemsOf(document) ?? [whole]) for (const result of use(part)) results.push(result);
    } catch (error) {
      // A List below refuses the whole List, so an object that cannot be injected does not matter.
      const isOfObject = error instanceof FileError && error.object !== '';
      if (!(error instanceof NotAlone) && !isOfObject) throw error;
      results.length = length;
      for (const result of use(whole)) results.push(result);
    }
  }
  return results;
}

/** Returns the items of a List; undefined for another document. */
function itemsOf(document: FileDocument): Iterable<FilePart> | undefined {
  const list = document.list();
  return list !== undefined && isList(list) ? itemParts(document, list) : undefined;
}

/**
 * Reports whether a text is a List when its items are put in. If each item can be read alone, the
 * whole text has the same values: the parser stands at the same place of the List after each item.
 */
function isList({ isJson, key, rest }: ListText): boolean {
  try {
    const value: unknown = isJson ? JSON.parse(rest) : readYaml(rest, 1);
    if (!isJsonObject(value) || typeof value.kind !== 'string') return false;
    const root = positionsOfText(rest);
    const sources = root.entries.filter((entry) => entry.key === 'items' || entry.key.startsWith(MERGE_KEY));
    const isEmpty = isJson || value.items === null;
    return isEmpty && sources.length === 1 && sources[0]?.start === key && repeatedKeys(root).length === 0;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof YamlError)) throw error;
    return false;
  }
}

function* itemParts(document: FileDocument, list: ListText): Generator<FilePart> {
  let { line } = document;
  let before = 0;
  for (const [from, to] of boundsOf(list)) {
    line += linesIn(document.text, before, from);
    before = from;
    const text = document.text.slice(from, to);
    const at = line;
    const read = (): unknown => {
      const item: unknown = list.isJson ? JSON.parse(text) : readItem(text, at);
      if (!isJsonObject(item) || listItems(item) !== undefined) throw new NotAlone();
      return item;
    };
    yield { start: document.start + from, text, line, isItem: !list.isJson, read };
  }
}

function readItem(text: string, line: number): unknown {
  try {
    const items = readYaml(text, line);
    if (!Array.isArray(items) || items.length !== 1) throw new NotAlone();
    return items[0] as unknown;
  } catch (error) {
    const cause: unknown = error instanceof FileError ? error.cause : undefined;
    throw cause instanceof YamlError && needsOthers.test(cause.reason) ? new NotAlone() : error;
  }
}

/** Returns the value of a part's text, if the part has this object. */
export function valueWith({ isItem }: FilePart, object: unknown): unknown {
  return isItem ? [object] : object;
}
