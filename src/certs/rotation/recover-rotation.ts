import { bundleFingerprints, parseBundle, type BundleEntry, readCertificate, shortName } from '../read-certificate.ts';
import type { CertificatePolicy } from '../certificate-policy.ts';
import {
  isAccepted,
  rotationBundle,
  wasAccepted,
  earliestTime,
  latest,
  changeOf,
  type RetiringAuthority,
  type RotationChange,
  type RotationState,
  type StoredAuthority,
} from './rotation-state.ts';
import type { CertifiedKey } from '../key-pair.ts';
import { keyMatches, type ServingPair } from '../verify-chain.ts';
import { readRotationSecret, type SecretText } from './rotation-secret.ts';

/** The stored state and the live objects, as read. */
export interface ObservedCertificates {
  readonly stored: SecretText | undefined;
  readonly serving: ServingPair | undefined;
  readonly bundles: readonly string[];
}

/** The certificates of a revision after the stored state and the live objects were compared. */
export interface RecoveredRotation {
  readonly state: RotationState;
  /** A valid leaf that may be in use, from the serving Secret, else from the stored state. */
  readonly current?: CertifiedKey;
  /** Whether the last known leaf has expired; every call then fails, so a swap is safe. */
  readonly expired: boolean;
  readonly changes: readonly RotationChange[];
}

/**
 * The maximum number of authorities adopted from live objects. At 2 KB each (RSA 4096), the bundles
 * of five webhooks stay below 1 MB, which every object store accepts. No rotation needs more
 * authorities within the lifetime of a leaf.
 */
export const mostAdopted = 64;

/**
 * Compares the stored state with the live objects. Working live objects take precedence: a leaf in
 * use is kept until its successor is trusted everywhere. Authorities that a lost, damaged or
 * restored stored state lacks become retiring authorities. Ignores a serving Secret that no bundle
 * trusts.
 */
export function recoverRotation(
  observed: ObservedCertificates,
  context: { readonly policy: CertificatePolicy; readonly jitter: number; readonly now: Date },
): RecoveredRotation {
  const { policy, jitter, now } = context;
  const terms = { issuedAt: now, duration: policy.leafDuration, keySize: policy.keySize, jitter };
  const unknownUse = new Date(now.getTime() + policy.leafDuration);
  const defaults = { leaf: terms, authority: { ...terms, duration: policy.caDuration }, retireAfter: unknownUse };
  const read = observed.stored && readRotationSecret(observed.stored, defaults);
  const faults = read?.faults ?? [];
  const changes = faults.map((fault) => changeOf('Repaired', 'StoredState', `stored Secret: ${fault}`));
  let state: RotationState = read?.state ?? { retiring: [] };

  const served = pairOf(observed.serving);
  const accepts = (caPem: string): boolean => served !== undefined && isAccepted(served.certificatePem, caPem, now);
  const published = observed.bundles.flatMap(parseBundle);
  const isUnknown = !accepts(rotationBundle(state));
  // A stored state that lacks a working leaf is outdated, e.g. restored from a backup.
  const isOutdated =
    read === undefined || faults.length > 0 || (isUnknown && published.some(({ pem }) => accepts(pem)));
  if (isOutdated) {
    const isGood = isUnknown && served !== undefined && accepts(served.caPem);
    const found = isGood ? [...parseBundle(served.caPem), ...published] : published;
    const until = isGood ? latest(unknownUse, readCertificate(served.certificatePem).notAfter) : unknownUse;
    // Adopts the authorities that admissions need first, and then the latest authorities.
    const needed = found.filter(({ pem }) => accepts(pem));
    const positions = new Map(found.map(({ pem }, index) => [pem, index]));
    const position = ({ certificatePem }: RetiringAuthority): number => positions.get(certificatePem) ?? 0;
    const adopted = adopt(state, [...needed, ...found.toReversed()], until, now).sort(
      (one, other) => position(one) - position(other),
    );
    state = { ...state, retiring: [...state.retiring, ...adopted] };
    changes.push(...adopted.map(({ certificatePem }) => adoption(certificatePem)));
  }

  const bundle = rotationBundle(state);
  const known = [served, state.leaf].filter((leaf) => leaf !== undefined);
  const current = known.find(({ certificatePem }) => isAccepted(certificatePem, bundle, now));
  const expired = known.find(({ certificatePem }) => wasAccepted(certificatePem, bundle));
  if (current === undefined) return { state, expired: expired !== undefined, changes };
  if (current !== served && (served === undefined || expired !== served)) {
    const message = `the serving Secret ${observed.serving === undefined ? 'was missing' : 'held no pair that the bundle verifies'}`;
    changes.push(changeOf('Repaired', 'ServingSecret', message));
  }
  const { certificatePem, privateKeyPem } = current;
  const leaf = state.leaf ?? { certificatePem, privateKeyPem, terms };
  return { state: keepWhileInUse({ ...state, leaf }, certificatePem, now), current, expired: false, changes };
}

/** Returns the pair in the serving Secret if the key belongs to the certificate. */
function pairOf(serving: ServingPair | undefined): ServingPair | undefined {
  const [leaf] = parseBundle(serving?.certificatePem ?? '');
  return serving !== undefined && leaf !== undefined && keyMatches(leaf.x509, serving.privateKeyPem)
    ? serving
    : undefined;
}

function adoption(certificatePem: string): RotationChange {
  const message = `authority ${shortName(certificatePem)} is in use but missing from the stored Secret; it stays in the bundle`;
  return changeOf('Repaired', 'Bundle', message);
}

function adopt(state: RotationState, found: readonly BundleEntry[], until: Date, now: Date): RetiringAuthority[] {
  const known = bundleFingerprints(rotationBundle(state));
  const adopted = new Map<string, RetiringAuthority>();
  for (const { fingerprint, pem, notAfter } of found) {
    if (!known.has(fingerprint) && notAfter > now && adopted.size < mostAdopted) {
      adopted.set(fingerprint, { certificatePem: pem, retireAfter: earliestTime(notAfter, until) });
    }
  }
  return [...adopted.values()];
}

/** Keeps an authority at least until the leaf in use expires, whatever the stored state says. */
function keepWhileInUse(state: RotationState, certificatePem: string, now: Date): RotationState {
  const { notAfter } = readCertificate(certificatePem);
  const signs = (authority: { readonly certificatePem: string }): boolean =>
    isAccepted(certificatePem, authority.certificatePem, now);
  const extended = (authority: StoredAuthority): StoredAuthority =>
    signs(authority) ? { ...authority, lastLeafNotAfter: latest(notAfter, authority.lastLeafNotAfter) } : authority;
  return {
    ...state,
    ...(state.authority && { authority: extended(state.authority) }),
    ...(state.staged && { staged: extended(state.staged) }),
    retiring: state.retiring.map((authority) =>
      signs(authority) ? { ...authority, retireAfter: latest(authority.retireAfter, notAfter) } : authority,
    ),
  };
}
