import { Buffer } from 'node:buffer';
import { TemplateError, type TemplateErrorPosition } from '../template-error.ts';

/** A template's name and text, with line numbers for errors. */
export class SourceText {
  readonly name: string;
  readonly text: string;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
  }

  /** Returns the line of an index, from 1. */
  line(position: number): number {
    let line = 1;
    for (let at = this.text.indexOf('\n'); at >= 0 && at < position; at = this.text.indexOf('\n', at + 1)) line += 1;
    return line;
  }

  #place(position: number, context: string): TemplateErrorPosition {
    const { name, text } = this;
    const start = position === 0 ? 0 : text.lastIndexOf('\n', position - 1) + 1;
    const end = text.indexOf('\n', position);
    const source = text.slice(start, end < 0 ? undefined : end);
    return { name, line: this.line(position), column: Buffer.byteLength(text.slice(start, position)), context, source };
  }

  /** Makes a syntax error. As in Go, its line is the last token's; `position` is the fault's. */
  syntaxError(lastToken: number, position: number, reason: string): TemplateError {
    const place = this.#place(position, '');
    return new TemplateError('syntax', place, reason, `template: ${this.name}:${this.line(lastToken)}: ${reason}`);
  }

  /** Makes an error of execution or of a limit, in the template `executing` at `context`. */
  executionError(
    kind: 'execution' | 'limit',
    position: number,
    executing: string,
    context: string,
    reason: string,
  ): TemplateError {
    const place = this.#place(position, context);
    const message = `template: ${this.name}:${place.line}:${place.column}: executing "${executing}" at <${context}>: ${reason}`;
    return new TemplateError(kind, place, reason, message);
  }
}
