import { bundleFingerprints, parseBundle } from './bundle.ts';
import { readCertificate } from './read-certificate.ts';
import type { RotationState } from './rotation-state.ts';
import { verifyServingPair } from './verify-chain.ts';
import type { Leaf } from './serving-certificate.ts';

/**
 * The caBundle of a state: every authority in it, oldest first. The order does not depend on their roles, so that a swap leaves the bundle
 * as it is (each new caBundle value makes the API server open new connections).
 */
export function rotationBundle({ authority, staged, retiring }: RotationState): string {
  const pems = [authority, staged, ...retiring].flatMap((holder) =>
    holder === undefined ? [] : [holder.certificatePem],
  );
  return parseBundle(pems.join('\n'))
    .sort(
      (one, other) => Number(one.notBefore) - Number(other.notBefore) || (one.fingerprint < other.fingerprint ? -1 : 1),
    )
    .map(({ pem }) => pem)
    .join('');
}

/** Whether the API server accepts a leaf with this bundle. A leaf from the future counts as good: it may be our clock that is behind. */
export function isAccepted(leaf: Leaf, caPem: string, now: Date): boolean {
  const [entry] = parseBundle(leaf.certificatePem);
  if (entry === undefined) {
    return false;
  }
  const at = entry.notBefore > now ? entry.notBefore : now;
  return verifyServingPair({ ...leaf, caPem }, { now: at }).length === 0;
}

/** Whether a leaf was good and is so no more. */
export function hasExpired(leaf: Leaf, caPem: string, now: Date): boolean {
  const [entry] = parseBundle(leaf.certificatePem);
  return entry !== undefined && entry.notAfter <= now && isAccepted(leaf, caPem, entry.notBefore);
}

/** Whether every one of the bundles holds this certificate; true when there is none. */
export function isEverywhere(certificatePem: string, bundles: readonly string[]): boolean {
  const { fingerprint } = readCertificate(certificatePem);
  return bundles.every((bundle) => bundleFingerprints(bundle).has(fingerprint));
}
