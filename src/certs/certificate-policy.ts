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

const day = 24 * 60 * 60 * 1000;

/** How long certificates live and how they are replaced, unless told. All durations are milliseconds. */
export const defaultCertificatePolicy = {
  leafDuration: 7 * day,
  caDuration: 365 * day,
  /** The share of its life after which a certificate is renewed; jitter only makes it earlier. Between 0 and 1, both excluded. */
  renewalFraction: 2 / 3,
  keySize: 2048,
  /** How long a new authority stands in every bundle before the first leaf that it signed is served. */
  confirmationPeriod: 60_000,
};

export type CertificatePolicy = Readonly<typeof defaultCertificatePolicy>;

const keySizes: readonly number[] = [2048, 3072, 4096];
/** Far below the year 9999, where X.509 times end (RFC 5280 section 4.1.2.5), and below what a Date holds. */
const longestDuration = 100 * 365 * day;
/** X.509 times have whole seconds: below this a certificate could be born expired. */
const shortestDuration = 2000;

/** Refuses a policy under which certificates could not be replaced in time. @throws CertificatePolicyError */
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
    refuse('renewalFraction', String(renewalFraction), 'must lie between 0 and 1, both excluded');
  }
  if (!keySizes.includes(keySize)) refuse('keySize', String(keySize), `is not one of ${keySizes.join(', ')}`);
  const period = `(${durationText(confirmationPeriod)})`;
  if (!(confirmationPeriod >= 0)) refuse('confirmationPeriod', period, 'must not be negative');
  const overlap = caDuration * (1 - renewalFraction);
  if (confirmationPeriod >= overlap) {
    const rest = `what is left of an authority's life at its renewal (${durationText(overlap)})`;
    refuse('confirmationPeriod', period, `must be shorter than ${rest}`);
  }
}

const units: readonly (readonly [milliseconds: number, letter: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** A duration in milliseconds as people write it in a spec: in hours if it is whole hours, else in minutes or seconds. */
export function durationText(milliseconds: number): string {
  const [length, letter] = units.find(([unit]) => milliseconds !== 0 && milliseconds % unit === 0) ?? [1000, 's'];
  return `${milliseconds / length}${letter}`;
}
