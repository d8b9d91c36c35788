import { isMap, isNode, isPair, isScalar, LineCounter, type Document, parseDocument } from 'yaml';
import { yamlOptions } from '../../inject/objects/read-documents.ts';

/** A place in a file. Lines and columns count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Place = (line: number, column: number) => Position;
/** The names and indexes that lead to a field. */
export type SourcePath = readonly (string | number)[];

/** A YAML document of a file, or of a text inside a file, with the places of its fields. */
export class SourcePlaces {
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #text: string;
  readonly #place: Place;

  /** @param text the text that `lines` counted. @param place maps its positions to the file */
  constructor(document: Document, lines: LineCounter, text: string, place: Place) {
    this.#document = document;
    this.#lines = lines;
    this.#text = text;
    this.#place = place;
  }

  /** Returns the places of a file. A template that ends too early has no place after the file. */
  static inFile(file: string, text: string): Place {
    const last = text.split('\n').length;
    return (line, column) => ({ file, line: Math.min(line, last), column });
  }

  /** Reads a YAML text that is a file, or that is inside a file. */
  static of(text: string, place: Place): SourcePlaces {
    const lineCounter = new LineCounter();
    return new SourcePlaces(parseDocument(text, { ...yamlOptions, lineCounter }), lineCounter, text, place);
  }

  has(path: SourcePath): boolean {
    return this.#document.hasIn(path);
  }

  /** Returns the place of a field, or of the nearest field around it. */
  find(path: SourcePath): Position {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const start = this.#startOf(path.slice(0, depth));
      if (start !== undefined) return this.#at(start);
    }
    return this.#at(this.#document.contents?.range?.[0] ?? 0);
  }

  /** Returns a function that maps positions in the text of a field to the file. */
  inside(path: SourcePath): Place {
    const node: unknown = this.#document.getIn(path, true);
    if (!isScalar(node) || node.type !== 'BLOCK_LITERAL' || !node.range) return () => this.find(path);
    const header = this.#lines.linePos(node.range[0]).line;
    const value = String(node.value).split('\n');
    const first = Math.max(
      0,
      value.findIndex((line) => line.trim() !== ''),
    );
    const content = this.#text.split('\n', header + first + 1)[header + first] ?? '';
    const indent = spacesBefore(content) - spacesBefore(value[first] ?? '');
    return (line, column) => this.#place(header + line, indent + column);
  }

  /** Reads the text of a field as a YAML document. */
  document(path: SourcePath): SourcePlaces {
    const text: unknown = this.#document.getIn(path);
    return SourcePlaces.of(typeof text === 'string' ? text : '', this.inside(path));
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return this.#place(line, col);
  }

  /** Returns the offset of the field's name, or of the item of a list. */
  #startOf(path: SourcePath): number | undefined {
    const parent: unknown = path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true);
    const name = path.at(-1);
    const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
    const node: unknown = isPair(pair) ? pair.key : this.#document.getIn(path, true);
    return isNode(node) ? node.range?.[0] : undefined;
  }
}

/** Splits `spec.webhook.keys[0].name` into names and indexes. */
export function fieldPath(field: string): SourcePath {
  const parts = field.split(/[.[\]]/).filter((part) => part !== '');
  return parts.map((part) => (/^\d{1,6}$/.test(part) ? Number(part) : part));
}

function spacesBefore(line: string): number {
  return line.length - line.trimStart().length;
}
