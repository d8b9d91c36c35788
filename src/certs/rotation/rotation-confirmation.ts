import type { CertificatePolicy } from '../certificate-policy.ts';
import { shortName } from '../read-certificate.ts';
import type { RecoveredRotation } from './recover-rotation.ts';
import {
  isEverywhere,
  changeOf,
  type RotationBundles,
  type RotationChange,
  type StoredAuthority,
} from './rotation-state.ts';

/** The facts that decide whether replicas may serve a leaf. */
export interface RotationSituation extends Pick<RecoveredRotation, 'current' | 'expired'> {
  readonly bundles: RotationBundles;
  readonly policy: CertificatePolicy;
  readonly now: Date;
}

/** The wait if no valid leaf is known, in milliseconds; covers the lag of API server watches. */
const settlePeriod = 5000;

/** Records since when all webhook configurations contain an authority, or resets that time. */
export function notePublication(
  authority: StoredAuthority,
  bundles: RotationBundles,
  now: Date,
): { readonly recorded: StoredAuthority; readonly change?: RotationChange } {
  const { publishedAt, ...unpublished } = authority;
  const named = `authority ${shortName(authority.chain[0])}`;
  if (!isEverywhere(authority.chain, bundles)) {
    const change = changeOf('Repaired', 'Bundle', `a webhook configuration lacked ${named}`);
    return { recorded: unpublished, ...(publishedAt !== undefined && { change }) };
  }
  // A time in the future comes from a wrong clock; waiting for it could take forever.
  if (publishedAt !== undefined && publishedAt <= now) return { recorded: authority };
  const change = changeOf('Published', 'Authority', `${named} is in the caBundle of every webhook configuration`);
  return { recorded: { ...authority, publishedAt: now }, ...(bundles.length > 0 && { change }) };
}

/** Returns when replicas may serve a leaf of this authority; undefined before its publication. */
export function servableAt(authority: StoredAuthority, situation: RotationSituation): Date | undefined {
  const { policy, now } = situation;
  if (situation.bundles.length === 0 || situation.expired) {
    // No API server calls the webhook, or every call already fails: an immediate swap is safe.
    return now;
  }
  const after = (time: Date | undefined, period: number): Date | undefined => time && new Date(time.getTime() + period);
  if (situation.current !== undefined) return after(authority.publishedAt, policy.confirmationPeriod);
  // Replicas may still have a valid leaf in memory: wait for publication, but not forever.
  return (
    after(authority.publishedAt, Math.min(settlePeriod, policy.confirmationPeriod)) ??
    after(authority.terms.issuedAt, policy.confirmationPeriod)
  );
}
