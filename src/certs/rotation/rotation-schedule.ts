import type { CertificatePolicy } from '../certificate-policy.ts';
import type { IssueTerms } from './rotation-state.ts';

/** The largest share of the time until renewal by which jitter brings it forward. */
const jitterShare = 0.1;

/** When to renew: at `renewalFraction` of the life, or up to a tenth earlier, so that revisions do not renew in one go. */
export function renewalTime(notAfter: Date, { issuedAt, jitter }: IssueTerms, policy: CertificatePolicy): Date {
  const life = notAfter.getTime() - issuedAt.getTime();
  return new Date(issuedAt.getTime() + life * policy.renewalFraction * (1 - jitterShare * jitter));
}

/** The later of some times; undefined ones do not count. */
export function latest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time > found ? time : found), first);
}

/** The earliest of some times; undefined ones do not count. */
export function earliest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time < found ? time : found), first);
}
