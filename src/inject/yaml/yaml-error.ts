/** YAML that cannot be read, or that JSON has no words for. Names the line (from 1) where it is known. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  readonly line: number | undefined;

  constructor(reason: string, line?: number, options?: ErrorOptions) {
    super(line === undefined ? `yaml: ${reason}` : `yaml: line ${line}: ${reason}`, options);
    this.line = line;
  }
}
