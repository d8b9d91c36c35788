import { FileError, linesIn, positionAt } from '../../inject/objects/file-error.ts';
import { locate, positionsOfText, repeatedKeys } from '../../inject/objects/positions-of-text.ts';
import type { SpanNode } from '../../inject/yaml/read-nodes.ts';
import { parseYaml } from '../../inject/yaml/parse-yaml.ts';
import { YamlError } from '../../inject/yaml/yaml-error.ts';

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
  #found: SpanNode | undefined;
  readonly #value: unknown;
  readonly #text: string;
  readonly #place: Place;

  /** @param value what Go reads. @param place maps positions in the text to the file */
  constructor(text: string, value: unknown, place: Place) {
    this.#value = value;
    this.#text = text;
    this.#place = place;
  }

  /** Most objects of a file have no finding. */
  get #root(): SpanNode {
    return (this.#found ??= ifValid(() => positionsOfText(this.#text)) ?? positionsOfText(''));
  }

  /** Returns the places of a file. A template that ends too early has no place after the file. */
  static inFile(file: string, text: string): Place {
    const last = 1 + linesIn(text, 0, text.length);
    return (line, column) => ({ file, line: Math.min(line, last), column });
  }

  /** Reads a YAML text that is a file, or that is inside a file. */
  static of(text: string, place: Place): SourcePlaces {
    const value = ifValid(() => parseYaml(text));
    return new SourcePlaces(text, value, place);
  }

  has(path: SourcePath): boolean {
    return locate(this.#root, path).isFound;
  }

  /** Returns the place of a field, or of the nearest field around it. */
  find(path: SourcePath): Position {
    return this.#at(locate(this.#root, path).start);
  }

  /** Returns the first 100 keys that occur twice in a map, of which Go reads the last. */
  repeatedKeys(): { readonly key: string; readonly position: Position }[] {
    const first = repeatedKeys(this.#root).slice(0, 100);
    return first.map(({ key, start }) => ({ key, position: this.#at(start) }));
  }

  /** Returns a function that maps positions in the text of a field to the file. */
  inside(path: SourcePath): Place {
    const { node } = locate(this.#root, path);
    const value = this.#valueAt(path);
    if (typeof value !== 'string' || this.#text[node.start] !== '|') return () => this.find(path);
    const header = positionAt(this.#text, node.start).line;
    const first = value.slice(0, value.search(/\S/)).split('\n').length - 1;
    const content = this.#text.split('\n', header + first + 1)[header + first] ?? '';
    const indent = spacesBefore(content) - spacesBefore(value.split('\n')[first] ?? '');
    return (line, column) => this.#place(header + line, indent + column);
  }

  /** Reads the text of a field as a YAML document. */
  document(path: SourcePath): SourcePlaces {
    const text = this.#valueAt(path);
    return SourcePlaces.of(typeof text === 'string' ? text : '', this.inside(path));
  }

  #at(offset: number): Position {
    const { line, column } = positionAt(this.#text, offset);
    return this.#place(line, column);
  }

  #valueAt(path: SourcePath): unknown {
    return path.reduce((value: unknown, name) => ((value ?? {}) as Record<string, unknown>)[name], this.#value);
  }
}

function ifValid<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FileError || error instanceof YamlError)) throw error;
    return undefined;
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
