/** An error in YAML, or a value without a JSON form. Names the line (from 1) if known. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  readonly reason: string;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(reason: string, line?: number, options?: ErrorOptions & { readonly column?: number }) {
    super(line === undefined ? `yaml: ${reason}` : `yaml: line ${line}: ${reason}`, options);
    this.reason = reason;
    this.line = line;
    this.column = options?.column;
  }
}
