/**
 * The error for a certificate policy, name or provided certificate that can never work. Retry
 * only after the user has changed it. `src/certs` must not import the API's ConfigurationError.
 * Callers prepend their own path to `field`.
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

const day = 24 * 60 * 60 * 1000;

/** The default lifetimes and renewal rules of certificates. All durations are in milliseconds. */
export const defaultCertificatePolicy = {
  leafDuration: 7 * day,
  caDuration: 365 * day,
  /** Certificates are renewed after this fraction of their lifetime, in (0, 1), minus a jitter. */
  renewalFraction: 2 / 3,
  keySize: 2048,
  /** How long every CA bundle holds a new authority before replicas serve its first leaf. */
  confirmationPeriod: 60_000,
};

export type CertificatePolicy = Readonly<typeof defaultCertificatePolicy>;

const keySizes: readonly number[] = [2048, 3072, 4096];
/** X.509 times end in the year 9999 (RFC 5280 section 4.1.2.5); this limit stays far below. */
const longestDuration = 100 * 365 * day;
/** X.509 times have whole seconds, so a shorter-lived certificate might already be expired. */
const shortestDuration = 2000;

/** Checks that certificates can be replaced in time. @throws CertificatePolicyError */
export function checkCertificatePolicy(policy: CertificatePolicy): void {
  const { leafDuration, caDuration, renewalFraction, keySize, confirmationPeriod } = policy;
  const refuse = (field: keyof CertificatePolicy, value: string, problem: string): never => {
    throw new CertificatePolicyError(field, `${field} ${value} ${problem}`);
  };
  for (const field of ['leafDuration', 'caDuration'] as const) {
    if (policy[field] >= shortestDuration && policy[field] <= longestDuration) continue;
    const bounds = `at least ${durationText(shortestDuration)} and at most ${durationText(longestDuration)}`;
    refuse(field, `(${durationText(policy[field])})`, `must be ${bounds}`);
  }
  if (leafDuration >= caDuration) {
    const longest = durationText(caDuration);
    refuse('leafDuration', `(${durationText(leafDuration)})`, `must be shorter than caDuration (${longest})`);
  }
  if (!(renewalFraction > 0 && renewalFraction < 1)) {
    refuse('renewalFraction', String(renewalFraction), 'must be greater than 0 and less than 1');
  }
  if (!keySizes.includes(keySize)) refuse('keySize', String(keySize), `is not one of ${keySizes.join(', ')}`);
  const period = `(${durationText(confirmationPeriod)})`;
  if (!(confirmationPeriod >= 0)) refuse('confirmationPeriod', period, 'must not be negative');
  const remaining = caDuration * (1 - renewalFraction);
  if (confirmationPeriod >= remaining) {
    const rest = `the remaining life of an authority at its renewal (${durationText(remaining)})`;
    refuse('confirmationPeriod', period, `must be shorter than ${rest}`);
  }
}

const units: readonly (readonly [milliseconds: number, letter: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** Formats milliseconds as a spec does: in whole hours, in whole minutes, or in seconds. */
export function durationText(milliseconds: number): string {
  const [length, letter] = units.find(([unit]) => milliseconds !== 0 && milliseconds % unit === 0) ?? [1000, 's'];
  return `${milliseconds / length}${letter}`;
}
