import type { CertificatePolicy } from '../certificate-policy.ts';
import { shortName } from '../read-certificate.ts';
import type { RecoveredRotation } from './recover-rotation.ts';
import { isEverywhere, changeOf, type RotationChange, type StoredAuthority } from './rotation-state.ts';

/** What decides whether a leaf may be served. */
export interface RotationSituation extends Pick<RecoveredRotation, 'current' | 'expired'> {
  readonly bundles: readonly string[];
  readonly policy: CertificatePolicy;
  readonly now: Date;
}

/** How long a bundle must have been read back when no good leaf is known at all: long enough for the API servers' own watches. */
const settlePeriod = 5000;

/** Notes since when an authority is read back from every configuration, and forgets it as soon as one lacks it. */
export function notePublication(
  authority: StoredAuthority,
  bundles: readonly string[],
  now: Date,
  changes: RotationChange[],
): StoredAuthority {
  const { publishedAt, ...unpublished } = authority;
  const named = `authority ${shortName(authority.certificatePem)}`;
  if (!isEverywhere(authority.certificatePem, bundles)) {
    if (publishedAt !== undefined)
      changes.push(changeOf('Repaired', 'Bundle', `a webhook configuration lacked ${named}`));
    return unpublished;
  }
  // A time in the future is of a clock that was wrong; waiting for it could last for ever.
  if (publishedAt !== undefined && publishedAt <= now) return authority;
  if (bundles.length > 0)
    changes.push(changeOf('Published', 'Authority', `${named} is read back from every webhook configuration`));
  return { ...authority, publishedAt: now };
}

/** From when on a leaf of this authority may be served; undefined until its bundle was read back (or may be served now, when nothing is published). */
export function servableAt(authority: StoredAuthority, situation: RotationSituation): Date | undefined {
  const { policy, now } = situation;
  if (situation.bundles.length === 0 || situation.expired) {
    // No API server calls us, or every call fails already: there is nothing to lose.
    return now;
  }
  const after = (time: Date | undefined, period: number): Date | undefined => time && new Date(time.getTime() + period);
  if (situation.current !== undefined) return after(authority.publishedAt, policy.confirmationPeriod);
  // Replicas may still hold a good leaf in memory, new ones have none at all: wait for the evidence, but not for ever.
  return (
    after(authority.publishedAt, Math.min(settlePeriod, policy.confirmationPeriod)) ??
    after(authority.terms.issuedAt, policy.confirmationPeriod)
  );
}
