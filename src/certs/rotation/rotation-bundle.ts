import { bundleFingerprints, parseBundle } from '../bundle.ts';
import { readCertificate } from '../read-certificate.ts';
import { latest, type RotationState } from './rotation-state.ts';
import { verifyChain } from '../verify-chain.ts';

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

/** Whether the API server accepts a serving certificate with this bundle. One from the future counts as good: it may be our clock that is behind. */
export function isAccepted(certificatePem: string, caPem: string, now: Date): boolean {
  const [leaf] = parseBundle(certificatePem);
  return leaf !== undefined && verifyChain(certificatePem, caPem, { now: latest(now, leaf.notBefore) }).length === 0;
}

/** Whether a serving certificate was good when it was new: if it is not accepted now, it or its authority has expired. */
export function wasAccepted(certificatePem: string, caPem: string): boolean {
  const [leaf] = parseBundle(certificatePem);
  return leaf !== undefined && isAccepted(certificatePem, caPem, leaf.notBefore);
}

/** Whether every one of the bundles holds this certificate; true when there is none. */
export function isEverywhere(certificatePem: string, bundles: readonly string[]): boolean {
  const { fingerprint } = readCertificate(certificatePem);
  return bundles.every((bundle) => bundleFingerprints(bundle).has(fingerprint));
}
