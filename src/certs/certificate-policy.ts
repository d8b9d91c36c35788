import { CertificatePolicyError } from './certificate-policy-error.ts';
import { durationText } from './duration-text.ts';

/** How long certificates live and how they are replaced. All durations are milliseconds. */
export interface CertificatePolicy {
  readonly leafDuration: number;
  readonly caDuration: number;
  /** The share of its life after which a certificate is renewed; jitter only makes it earlier. Between 0 and 1, both excluded. */
  readonly renewalFraction: number;
  readonly keySize: number;
  /** How long a new authority stands in every bundle before the first leaf that it signed is served. */
  readonly confirmationPeriod: number;
}

const day = 24 * 60 * 60 * 1000;

/** Leaf 7 days, authority 365 days, both renewed at two thirds of their life. */
export const defaultCertificatePolicy: CertificatePolicy = {
  leafDuration: 7 * day,
  caDuration: 365 * day,
  renewalFraction: 2 / 3,
  keySize: 2048,
  confirmationPeriod: 60_000,
};

const keySizes: readonly number[] = [2048, 3072, 4096];
/** Far below the year 9999, where X.509 times end (RFC 5280 section 4.1.2.5), and below what a Date holds. */
const longestDuration = 100 * 365 * day;
/** X.509 times have whole seconds: below this a certificate could be born expired. */
const shortestDuration = 2000;

/**
 * Refuses a policy under which certificates could not be replaced in time.
 * @throws CertificatePolicyError naming the first field that is wrong.
 */
export function checkCertificatePolicy(policy: CertificatePolicy): void {
  checkDuration('leafDuration', policy.leafDuration);
  checkDuration('caDuration', policy.caDuration);
  const { leafDuration, caDuration, renewalFraction, keySize, confirmationPeriod } = policy;
  if (leafDuration >= caDuration) {
    throw new CertificatePolicyError(
      'leafDuration',
      `leafDuration (${durationText(leafDuration)}) must be shorter than caDuration (${durationText(caDuration)})`,
    );
  }
  if (!(renewalFraction > 0 && renewalFraction < 1)) {
    throw new CertificatePolicyError(
      'renewalFraction',
      `renewalFraction ${renewalFraction} must lie between 0 and 1, both excluded`,
    );
  }
  if (!keySizes.includes(keySize)) {
    throw new CertificatePolicyError('keySize', `keySize ${keySize} is not one of ${keySizes.join(', ')}`);
  }
  if (!(confirmationPeriod >= 0)) {
    throw new CertificatePolicyError(
      'confirmationPeriod',
      `confirmationPeriod (${durationText(confirmationPeriod)}) must not be negative`,
    );
  }
  const overlap = caDuration * (1 - renewalFraction);
  if (confirmationPeriod >= overlap) {
    throw new CertificatePolicyError(
      'confirmationPeriod',
      `confirmationPeriod (${durationText(confirmationPeriod)}) must be shorter than what is left of an authority's life at its renewal (${durationText(overlap)})`,
    );
  }
}

function checkDuration(field: 'leafDuration' | 'caDuration', value: number): void {
  if (!(value >= shortestDuration && value <= longestDuration)) {
    throw new CertificatePolicyError(
      field,
      `${field} (${durationText(value)}) must be at least ${durationText(shortestDuration)} and at most ${durationText(longestDuration)}`,
    );
  }
}
