import { verifyServingPair, type ServingPair } from '../../certs/verify-chain.ts';
import type { ReadinessCheck } from './readiness.ts';

/** A pair that was found good is looked at again after this long. Milliseconds. */
const againMs = 60_000;

/**
 * Each certificate that is served must verify against the authorities in its own Secret, never against a webhook configuration: one foreign edit of
 * a caBundle must not take every replica out of service. Nor does one that has expired, which has done so on every replica; its own metric tells.
 */
export function certificatesCheck(
  certificates: { all(): readonly (ServingPair & { readonly owner: string })[] },
  now: () => Date,
): Omit<ReadinessCheck, 'check'> & { check(): string | undefined } {
  const goodAt = new WeakMap<ServingPair, number>();
  return {
    name: 'certificates',
    check() {
      const at = now();
      for (const pair of certificates.all()) {
        const checkedAt = goodAt.get(pair);
        if (checkedAt !== undefined && Math.abs(at.getTime() - checkedAt) < againMs) continue;
        // The clock of this replica may be the one that is wrong.
        const faults = verifyServingPair(pair, { now: at });
        const fault = faults.find(({ reason }) => reason !== 'Expired' && reason !== 'NotYetValid');
        if (fault !== undefined) return `Secret ${pair.owner}: ${fault.message}`;
        goodAt.set(pair, at.getTime());
      }
      return undefined;
    },
  };
}
