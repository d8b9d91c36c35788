/** The validity of a new certificate. X.509 times have whole seconds; both ends are rounded down. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** How far notBefore lies in the past: an API server whose clock is behind would refuse a certificate "from the future". */
export const BACKDATE_MILLISECONDS = 60 * 60 * 1000;

/** Valid for `duration` milliseconds from `now`, backdated by an hour, and never longer than `limit` (the issuer's own notAfter). */
export function validityFrom(now: Date, duration: number, limit?: Date): Validity {
  const end = Math.min(now.getTime() + duration, limit?.getTime() ?? Infinity);
  return { notBefore: wholeSeconds(now.getTime() - BACKDATE_MILLISECONDS), notAfter: wholeSeconds(end) };
}

function wholeSeconds(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}
