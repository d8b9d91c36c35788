/**
 * Somebody's configuration is wrong and retrying will not help until it changes: shown in a condition, never retried in a loop.
 * The message names the object or file, the field, the value and what to do.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** Where the mistake is, e.g. `spec.injection.templates.sidecar` or `config: templates.sidecar`. */
  readonly field: string;
  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
}
