/** The validity of a new certificate. X.509 times have whole seconds; both ends are rounded down. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * How far an authority's notBefore lies in the past. An API server whose clock is behind refuses certificates "from the future": an hour of
 * skew is common, and a day more lets the operator's own clock jump ahead by a day without harm. A leaf begins with its authority.
 */
export const backdating = 25 * 60 * 60 * 1000;

/** The validity of an authority that lives for `duration` milliseconds from `now`. */
export function authorityValidity(now: Date, duration: number): Validity {
  return { notBefore: wholeSeconds(now.getTime() - backdating), notAfter: wholeSeconds(now.getTime() + duration) };
}

/** The validity of a leaf that lives for `duration` milliseconds from `now`, within its authority's. */
export function leafValidity(now: Date, duration: number, authority: Validity): Validity {
  const end = Math.min(now.getTime() + duration, authority.notAfter.getTime());
  return { notBefore: authority.notBefore, notAfter: wholeSeconds(end) };
}

function wholeSeconds(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}
