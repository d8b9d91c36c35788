import { parseBundle } from '../../certs/bundle.ts';
import { isAccepted } from '../../certs/rotation/rotation-bundle.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';

/**
 * Whether a pair has nothing to do with the one in memory, which is still good: its authorities do not verify that one. A rotation always overlaps, so
 * somebody else wrote it, or this replica has missed a whole rotation.
 */
export function isUnrelated(pair: ServingPair, inMemory: ServingPair | undefined, now: Date): boolean {
  const certificatePem = inMemory?.certificatePem ?? '';
  const [leaf] = parseBundle(certificatePem);
  // With its intermediates, which a certificate of the user's own may need to be verified.
  return leaf !== undefined && leaf.notAfter > now && !isAccepted(certificatePem, pair.caPem, now);
}
