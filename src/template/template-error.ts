import { Buffer } from 'node:buffer';

export interface TemplateErrorPosition {
  /** The template's name, as given to compileTemplate. */
  readonly name: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column in bytes, from 0, as in Go. */
  readonly column: number;
  /** The construct as Go prints it, e.g. `.nul.x`; empty for syntax errors. */
  readonly context: string;
  /** The text of the line, for `caret()`. */
  readonly source: string;
}

/**
 * The only error class of this folder. `message` is Go's whole message (`template: inject:1:7:
 * executing "inject" at <.nul.x>: …`); `reason` is its last part.
 */
export class TemplateError extends Error {
  /** Whether the syntax, the execution or an exceeded limit caused the error. */
  readonly kind: 'syntax' | 'execution' | 'limit';
  readonly position: TemplateErrorPosition;
  readonly reason: string;

  constructor(kind: TemplateError['kind'], position: TemplateErrorPosition, reason: string, message: string) {
    super(message);
    this.name = 'TemplateError';
    this.kind = kind;
    this.position = position;
    this.reason = reason;
  }

  /** Returns three lines for people: position and reason, the template's line, a caret. */
  caret(): string[] {
    const { name, line, column, source } = this.position;
    const before = Buffer.from(source).subarray(0, column).toString().replace(/[^\t]/gu, ' ');
    return [`${name}:${line}:${column + 1}: ${this.reason}`, source, `${before}^`];
  }
}
