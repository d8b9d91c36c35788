/** An error in YAML, or a value without a JSON form. Names the line (from 1) if known. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  readonly line: number | undefined;

  constructor(reason: string, line?: number, options?: ErrorOptions) {
    super(line === undefined ? `yaml: ${reason}` : `yaml: line ${line}: ${reason}`, options);
    this.line = line;
  }
}
