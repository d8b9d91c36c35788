import { parseBundle } from '../certs/bundle.ts';
import { isAccepted } from '../certs/rotation-bundle.ts';
import type { ServingPair } from '../certs/verify-chain.ts';

/**
 * Whether a pair has nothing to do with the one in memory, which is still good: its authorities do not verify that one. A rotation always overlaps, so
 * somebody else wrote it, or this replica has missed a whole rotation.
 */
export function isStranger(pair: ServingPair, inMemory: ServingPair | undefined, now: Date): boolean {
  const [leaf] = parseBundle(inMemory?.certificatePem ?? '');
  return leaf !== undefined && leaf.notAfter > now && !isAccepted(leaf.pem, pair.caPem, now);
}
