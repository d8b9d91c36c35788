import { Buffer } from 'node:buffer';
import { FileError, linesIn } from './file-error.ts';
import { blockList, boundsOf, type ListText, scanJson } from './list-text.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { YamlError } from '../yaml/yaml-error.ts';

/** A document of a file: the part of its text that kubectl reads as one object. */
export interface FileDocument {
  readonly start: number;
  readonly text: string;
  readonly line: number;
  /** Returns the value as kubectl reads it. @throws FileError */
  readonly read: () => unknown;
  /** Returns where the items stand if the text looks like a List. */
  readonly list: () => ListText | undefined;
}

/**
 * Splits a file as kubectl does: a stream of JSON objects, or YAML documents between lines that
 * start with `---`. Only a comment may follow on such a line. Includes documents without a value.
 */
export function* documentsOfFile(text: string): Generator<FileDocument> {
  let [start, line, count] = [0, 1, 0];
  for (; ; count += 1) {
    const scanned = scanJson(text.slice(start));
    const isOther = count > 1 || (count === 1 && /^\s*(?:[["\d]|-\d|true|false|null)/.test(text.slice(start)));
    if (scanned === undefined && isOther) {
      const reason = 'kubectl refuses what follows JSON, apart from more objects, or YAML after the first of them';
      yield { start, text: text.slice(start), line, ...refusal(reason, line) };
      return;
    }
    if (scanned === undefined) break;
    const end = start + scanned.end;
    const json = text.slice(start, end);
    const { error, ...read } = readJson(json, line, scanned.list);
    // kubectl reads the rest as YAML, unless it has read several JSON objects.
    if (error !== undefined && count < 2) break;
    yield { start, text: json, line, ...read };
    if (error !== undefined) return;
    line += linesIn(text, start, end);
    start = end;
    if (/^[ \t\r\n]*$/.test(text.slice(start))) return;
  }
  if (count > 0 || /^(?:(?!\ufeff)[\s\x85])*\{/.test(text)) {
    // After it has tried to read JSON, kubectl drops spaces and one line break.
    const at = start + (/^(?:(?![\n\ufeff])[\s\x85])*/.exec(text.slice(start))?.[0].length ?? 0);
    if (Buffer.byteLength(text.slice(at, at + 4)) < 4) {
      const reason = 'kubectl reads no YAML of fewer than four bytes in braces or after a JSON object';
      yield { start, text: text.slice(start), line, ...refusal(reason, line) };
      return;
    }
    const next = text[at] === '\n' ? at + 1 : at;
    line += linesIn(text, start, next);
    start = next;
  }
  // kubectl counts a separator to the document below it if there is nothing above to end.
  for (let isOwn = false; start < text.length;) {
    const next = text.indexOf('\n---', start);
    const end = text.startsWith('---', start) ? start : next < 0 ? text.length : next + 1;
    if (end > start) yield yamlDocument(text.slice(start, end), start, line);
    if (end === text.length) return;
    isOwn = end === start && !isOwn;
    line += linesIn(text, start, end);
    const below = text.indexOf('\n', end) + 1;
    start = below === 0 ? text.length : below;
    const rest = text.slice(end + 3, start);
    const isSpaced = /^(?:(?!\ufeff)[\s\x85])*(?:#|$)/.test(rest) && !(isOwn && rest.startsWith('#'));
    if (!isSpaced || (isOwn && text[start] === '\ufeff')) {
      const reason = isSpaced
        ? 'kubectl refuses a byte order mark below the first "---"; remove it'
        : `kubectl refuses content on the line of "---"; move it to the next line: ${rest.trim().slice(0, 60)}`;
      yield { start: end, text: text.slice(end, start), line, ...refusal(reason, line) };
    }
    line += 1;
  }
}

/** Returns what refuses a document. */
function refusal(reason: string, line: number, cause?: unknown): Pick<FileDocument, 'read' | 'list'> {
  return { read: () => refuse(reason, line, cause), list: () => undefined };
}

/** A number in JSON that may be too large for a float, which Go refuses. */
const mayBeInfinite = /\d{300}|\d[eE]\+?\d{3}/;

function isInfinite(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isInfinite);
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

/** Returns what reads a text as JSON; the items of a List are read one after another. */
function readJson(
  json: string,
  line: number,
  list: ListText | undefined,
): Pick<FileDocument, 'read' | 'list'> & { readonly error?: unknown } {
  const at = line + linesIn(json, 0, json.search(/\S/));
  if (list !== undefined && isValid(json, list)) return { read: (): unknown => JSON.parse(json), list: () => list };
  try {
    const value: unknown = JSON.parse(json);
    if (mayBeInfinite.test(json) && isInfinite(value))
      return refusal('kubectl refuses a number above 1.8e308; make it smaller, or write it in quotes', at);
    return { read: () => value, list: () => undefined };
  } catch (error) {
    return { error, ...refusal(String(error), at, error) };
  }
}

function isValid(json: string, list: ListText): boolean {
  try {
    for (const [from, to] of boundsOf(list)) JSON.parse(json.slice(from, to));
    return Boolean(JSON.parse(list.rest)) && !mayBeInfinite.test(json);
  } catch {
    return false;
  }
}

/** kubectl ignores what follows an end mark. */
function yamlDocument(whole: string, start: number, line: number): FileDocument {
  const end = /^\.\.\.(?=[ \t\r\n\x85\u2028\u2029]|$)/m.exec(whole)?.index;
  const text = end === undefined ? whole : whole.slice(0, end + 3);
  return { start, text, line, read: () => readYaml(text, line), list: () => blockList(text) };
}

/** Reads a YAML text as kubectl does. @throws FileError */
export function readYaml(text: string, line: number): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const at = line - 1 + (error.line ?? 1 + linesIn(text, 0, text.search(/\S/)));
    const action = text.indexOf('{{');
    const { line: errorLine = 1, column = 0 } = error;
    const isTab = text.split('\n', errorLine).at(-1)?.[column - 1] === '\t';
    const remedy = isTab ? '; write spaces instead of the tab' : '';
    if (action < 0) return refuse(`${error.reason}${remedy}`, at, error, error.column);
    const reason = `this looks like a template that has not been rendered; render it first, for example with "helm template" (${error.reason})`;
    return refuse(reason, error.line === undefined ? line + linesIn(text, 0, action) : at, error);
  }
}

function refuse(reason: string, line: number, cause?: unknown, column?: number): never {
  throw new FileError(reason, line, column, { cause });
}
