import { TemplateError } from '../template-error.ts';
import type { TemplateErrorKind } from '../template-error.ts';

/** A template's name and text, and where in it an index is. */
export class SourceText {
  readonly name: string;
  readonly text: string;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
  }

  /** The line of an index, from 1. */
  line(position: number): number {
    let line = 1;
    for (let at = this.text.indexOf('\n'); at >= 0 && at < position; at = this.text.indexOf('\n', at + 1)) line += 1;
    return line;
  }

  /** The column of an index: bytes from the beginning of the line. */
  column(position: number): number {
    return Buffer.byteLength(this.text.slice(this.#lineStart(position), position));
  }

  #lineStart(position: number): number {
    return position === 0 ? 0 : this.text.lastIndexOf('\n', position - 1) + 1;
  }

  #lineText(position: number): string {
    const end = this.text.indexOf('\n', position);
    return this.text.slice(this.#lineStart(position), end < 0 ? undefined : end);
  }

  /**
   * An error of the template's syntax. Go names the line of the last token read; `position` is where the trouble is.
   */
  syntaxError(lastToken: number, position: number, reason: string): TemplateError {
    const place = {
      name: this.name,
      line: this.line(position),
      column: this.column(position),
      context: '',
      source: this.#lineText(position),
    };
    return new TemplateError('syntax', place, reason, `template: ${this.name}:${this.line(lastToken)}: ${reason}`);
  }

  /** An error of execution, or of its bounds, in the (named) template `executing` at the construct `context`. */
  executionError(
    kind: TemplateErrorKind,
    position: number,
    executing: string,
    context: string,
    reason: string,
  ): TemplateError {
    const place = {
      name: this.name,
      line: this.line(position),
      column: this.column(position),
      context,
      source: this.#lineText(position),
    };
    const message = `template: ${this.name}:${place.line}:${place.column}: executing "${executing}" at <${context}>: ${reason}`;
    return new TemplateError(kind, place, reason, message);
  }
}
