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

/** A configuration takes more to read, compile or render than there is for it. As it is, it is never tried again. */
export class TooCostlyError extends ConfigurationError {
  /** @param problem what follows "the configuration" */
  constructor(problem: string) {
    super(
      'spec.injection',
      `the configuration ${problem}; make its templates, values or mesh config smaller or simpler`,
    );
  }

  /** With a message that has been made before: by another process, or before a restart. */
  static saying(message: string): TooCostlyError {
    const error = new TooCostlyError('');
    error.message = message;
    return error;
  }
}
