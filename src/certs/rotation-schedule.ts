import type { CertificatePolicy } from './certificate-policy.ts';
import type { CertificateFacts } from './read-certificate.ts';
import { BACKDATE_MILLISECONDS } from './validity.ts';

/** The largest share of the time until renewal by which jitter brings it forward. */
const jitterShare = 0.1;

/**
 * When a certificate is to be renewed: at `renewalFraction` of its life, or up to a tenth of that earlier, so that many revisions installed
 * in one go do not renew in one go. The hour of backdating does not count as life.
 */
export function renewalTime(certificate: CertificateFacts, policy: CertificatePolicy, jitter: number): Date {
  const start = certificate.notBefore.getTime() + BACKDATE_MILLISECONDS;
  const life = certificate.notAfter.getTime() - start;
  return new Date(start + life * policy.renewalFraction * (1 - jitterShare * jitter));
}

/** The later of some times; undefined ones do not count. */
export function latest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time > found ? time : found), first);
}

/** The earliest of some times; undefined ones do not count. */
export function earliest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time < found ? time : found), first);
}
