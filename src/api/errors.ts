/**
 * A mistake in a user's configuration. Retrying cannot succeed until the configuration changes, so
 * the operator shows it in a condition. The message names the object or file, field, value and fix.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** The field with the mistake, e.g. `spec.injection.templates.sidecar`. */
  readonly field: string;
  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
}

/** The error for a configuration that exceeds a limit on parsing, compiling or rendering. */
export class TooCostlyError extends ConfigurationError {
  constructor(message: string) {
    super('spec.injection', message);
  }
}

/** Returns the message of a {@link TooCostlyError}. @param problem follows "the configuration" */
export function tooCostly(problem: string): string {
  return `the configuration ${problem}; make its templates, values or mesh config smaller or simpler`;
}
