/** A problem in a file, with its line and column (from 1), or with the object. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly object: string;
  readonly reason: string;
  readonly line: number;
  readonly column: number;

  constructor(reason: string, line = 0, column = 0, options: ErrorOptions & { readonly object?: string } = {}) {
    super(`${line > 0 ? `line ${line}${column > 0 ? `, column ${column}` : ''}: ` : ''}${reason}`, options);
    this.object = options.object ?? '';
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}

/** Returns the number of line breaks between two offsets. */
export function linesIn(text: string, from: number, to: number): number {
  const part = text.slice(from, to);
  let count = 0;
  for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Returns the line and column of an offset; both count from 1. */
export function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const column = offset === 0 ? 1 : offset - text.lastIndexOf('\n', offset - 1);
  return { line: 1 + linesIn(text, 0, offset), column };
}
