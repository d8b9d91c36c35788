/** Where in a template something went wrong. */
export interface TemplateErrorPosition {
  /** The template's name, as given to compileTemplate. */
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** In bytes from 0, as Go counts columns. */
  readonly column: number;
  /** The construct as Go prints it, e.g. `.nul.x`; empty for syntax errors. */
  readonly context: string;
  /** The template's line, for `caret()`. */
  readonly source: string;
}

/**
 * The one error of this folder. `message` is Go's whole message (`template: inject:1:7: executing "inject" at <.nul.x>: …`);
 * `reason` is its last part.
 */
export class TemplateError extends Error {
  /** The template's syntax, its execution, or a bound of the execution. */
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

  /** Three lines for people: place and reason, the template's line, a caret under the column. */
  caret(): string {
    const { name, line, column, source } = this.position;
    const before = Buffer.from(source).subarray(0, column).toString().replace(/[^\t]/gu, ' ');
    return `${name}:${line}:${column + 1}: ${this.reason}\n${source}\n${before}^`;
  }
}
