/**
 * A certificate policy, name or provided certificate that can never work. Retrying will not help until the configuration changes.
 * `src/certs` may import nothing, so this is the twin of the API's ConfigurationError: the caller prefixes `field` with its own path.
 */
export class CertificatePolicyError extends Error {
  override readonly name = 'CertificatePolicyError';
  /** The field of the policy or names, e.g. `leafDuration` or `hosts[1]`. */
  readonly field: string;
  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
}
