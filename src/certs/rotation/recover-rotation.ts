import { bundleFingerprints, parseBundle, type BundleEntry, readCertificate, shortName } from '../read-certificate.ts';
import type { CertificatePolicy } from '../certificate-policy.ts';
import {
  isAccepted,
  rotationBundle,
  wasAccepted,
  earliest,
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

/** What is known of the certificates of a revision once stored state and live objects were compared. */
export interface RecoveredRotation {
  readonly state: RotationState;
  /** A good leaf that is, or may be, in use: from the serving Secret, else from the stored state. */
  readonly current?: CertifiedKey;
  /** The last known leaf has expired: no admission succeeds any more, so nothing can be lost by swapping at once. */
  readonly expired: boolean;
  readonly changes: readonly RotationChange[];
}

/**
 * No more authorities than this are taken over from live objects: with 2 KB a certificate (RSA 4096), five webhooks' bundles of this many stay
 * below a megabyte, which every object store takes. More than that were not lost within a leaf's life but stuffed in.
 */
export const mostAdopted = 64;

/**
 * Compares what is stored with what is live. The live system wins where it works: a leaf that replicas serve with success is kept until its
 * successor is trusted everywhere, and authorities that the stored state has forgotten (lost, damaged, or restored from a backup) come
 * back as retiring ones. A serving Secret that nobody trusts is foreign and not looked at.
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
  const isUnrelated = !accepts(rotationBundle(state));
  // A stored state that does not know a leaf which works is out of date: restored from a backup, say.
  const isForgetful =
    read === undefined || faults.length > 0 || (isUnrelated && published.some(({ pem }) => accepts(pem)));
  if (isForgetful) {
    const isGood = isUnrelated && served !== undefined && accepts(served.caPem);
    const found = isGood ? [...parseBundle(served.caPem), ...published] : published;
    const until = isGood ? latest(unknownUse, readCertificate(served.certificatePem).notAfter) : unknownUse;
    // Of more than can be taken over, those go first without which an admission would fail, then the latest.
    const needed = found.filter(({ pem }) => accepts(pem));
    const places = new Map(found.map(({ pem }, index) => [pem, index]));
    const place = ({ certificatePem }: RetiringAuthority): number => places.get(certificatePem) ?? 0;
    const adopted = adopt(state, [...needed, ...found.toReversed()], until, now).sort(
      (one, other) => place(one) - place(other),
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

/** What the serving Secret holds, if its key belongs to its certificate. */
function pairOf(serving: ServingPair | undefined): ServingPair | undefined {
  const [leaf] = parseBundle(serving?.certificatePem ?? '');
  return serving !== undefined && leaf !== undefined && keyMatches(leaf.x509, serving.privateKeyPem)
    ? serving
    : undefined;
}

function adoption(certificatePem: string): RotationChange {
  const message = `authority ${shortName(certificatePem)} is in use but not in the stored Secret: it stays in the bundle`;
  return changeOf('Repaired', 'Bundle', message);
}

function adopt(state: RotationState, found: readonly BundleEntry[], until: Date, now: Date): RetiringAuthority[] {
  const known = bundleFingerprints(rotationBundle(state));
  const adopted = new Map<string, RetiringAuthority>();
  for (const { fingerprint, pem, notAfter } of found) {
    if (!known.has(fingerprint) && notAfter > now && adopted.size < mostAdopted) {
      adopted.set(fingerprint, { certificatePem: pem, retireAfter: earliest(notAfter, until) });
    }
  }
  return [...adopted.values()];
}

/** An authority stays for as long as the leaf that is in use was signed by it, whatever the stored state says of that. */
function keepWhileInUse(state: RotationState, certificatePem: string, now: Date): RotationState {
  const { notAfter } = readCertificate(certificatePem);
  const signs = (authority: { readonly certificatePem: string }): boolean =>
    isAccepted(certificatePem, authority.certificatePem, now);
  const noted = (authority: StoredAuthority): StoredAuthority =>
    signs(authority) ? { ...authority, lastLeafNotAfter: latest(notAfter, authority.lastLeafNotAfter) } : authority;
  return {
    ...state,
    ...(state.authority && { authority: noted(state.authority) }),
    ...(state.staged && { staged: noted(state.staged) }),
    retiring: state.retiring.map((authority) =>
      signs(authority) ? { ...authority, retireAfter: latest(authority.retireAfter, notAfter) } : authority,
    ),
  };
}
