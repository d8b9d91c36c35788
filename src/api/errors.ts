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

/** A configuration takes more to read, compile or render than there is for it. As it is, it is not tried again. */
export class TooCostlyError extends ConfigurationError {
  constructor(message: string) {
    super('spec.injection', message);
  }
}

/** The message of a {@link TooCostlyError}. @param problem what follows "the configuration" */
export function tooCostly(problem: string): string {
  return `the configuration ${problem}; make its templates, values or mesh config smaller or simpler`;
}
