import { type Certificate, type CertificateChain, shortName } from '../read-certificate.ts';
import type { CertificatePolicy } from '../certificate-policy.ts';
import {
  isAccepted,
  rotationBundle,
  wasAccepted,
  earliestTime,
  latest,
  changeOf,
  type CertifiedLeaf,
  type RetiringAuthority,
  type RotationBundles,
  type RotationChange,
  type RotationState,
  type StoredAuthority,
} from './rotation-state.ts';
import { keyMatches, type ParsedPair } from '../verify-chain.ts';
import { readRotationSecret, type SecretText } from './rotation-secret.ts';

/** The stored state and the live objects, as read. */
export interface ObservedCertificates {
  readonly stored: SecretText | undefined;
  readonly serving: ParsedPair | undefined;
  readonly bundles: RotationBundles;
}

/** The certificates of a revision after the stored state and the live objects were compared. */
export interface RecoveredRotation {
  readonly state: RotationState;
  /** A valid leaf that may be in use, from the serving Secret, else from the stored state. */
  readonly current?: CertifiedLeaf;
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
  const accepts = (...authorities: readonly Certificate[]): boolean =>
    served !== undefined && isAccepted(served.chain, authorities, now);
  const published = observed.bundles.flat();
  const isUnknown = !accepts(...rotationBundle(state));
  // A stored state that lacks a working leaf is outdated, e.g. restored from a backup.
  const isOutdated = read === undefined || faults.length > 0 || (isUnknown && published.some((each) => accepts(each)));
  if (isOutdated) {
    const isGood = isUnknown && served !== undefined && accepts(...served.authorities);
    const found = isGood ? [...served.authorities, ...published] : published;
    const until = isGood ? latest(unknownUse, served.chain[0].notAfter) : unknownUse;
    // Adopts the authorities that admissions need first, and then the latest authorities.
    const needed = found.filter((each) => accepts(each));
    const positions = new Map(found.map(({ pem }, index) => [pem, index]));
    const position = ({ chain: [{ pem }] }: RetiringAuthority): number => positions.get(pem) ?? 0;
    const adopted = adopt(state, [...needed, ...found.toReversed()], until, now).sort(
      (one, other) => position(one) - position(other),
    );
    state = { ...state, retiring: [...state.retiring, ...adopted] };
    changes.push(...adopted.map(adoption));
  }

  const bundle = rotationBundle(state);
  const known = [served, state.leaf].filter((leaf) => leaf !== undefined);
  const current = known.find(({ chain }) => isAccepted(chain, bundle, now));
  const expired = known.find(({ chain }) => wasAccepted(chain, bundle));
  if (current === undefined) return { state, expired: expired !== undefined, changes };
  if (current !== served && (served === undefined || expired !== served)) {
    const message = `the serving Secret ${observed.serving === undefined ? 'was missing' : 'held no pair that the bundle verifies'}`;
    changes.push(changeOf('Repaired', 'ServingSecret', message));
  }
  const { chain, privateKeyPem } = current;
  const leaf = state.leaf ?? { chain, privateKeyPem, terms };
  return { state: keepWhileInUse({ ...state, leaf }, chain, now), current, expired: false, changes };
}

/** Returns the pair in the serving Secret if the key belongs to the certificate. */
function pairOf(serving: ParsedPair | undefined): (ParsedPair & CertifiedLeaf) | undefined {
  const [leaf, ...intermediates] = serving?.chain ?? [];
  return serving !== undefined && leaf !== undefined && keyMatches(leaf.x509, serving.privateKeyPem)
    ? { ...serving, chain: [leaf, ...intermediates] }
    : undefined;
}

function adoption({ chain: [authority] }: RetiringAuthority): RotationChange {
  const message = `authority ${shortName(authority)} is in use but missing from the stored Secret; it stays in the bundle`;
  return changeOf('Repaired', 'Bundle', message);
}

function adopt(state: RotationState, found: readonly Certificate[], until: Date, now: Date): RetiringAuthority[] {
  const known = new Set(rotationBundle(state).map(({ fingerprint }) => fingerprint));
  const adopted = new Map<string, RetiringAuthority>();
  for (const authority of found) {
    const { fingerprint, notAfter } = authority;
    if (!known.has(fingerprint) && notAfter > now && adopted.size < mostAdopted) {
      adopted.set(fingerprint, { chain: [authority], retireAfter: earliestTime(notAfter, until) });
    }
  }
  return [...adopted.values()];
}

/** Keeps an authority at least until the leaf in use expires, whatever the stored state says. */
function keepWhileInUse(state: RotationState, chain: CertificateChain, now: Date): RotationState {
  const [{ notAfter }] = chain;
  const signs = (authority: Pick<StoredAuthority, 'chain'>): boolean => isAccepted(chain, authority.chain, now);
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
