import { parseBundle } from './bundle.ts';
import type { BundleEntry } from './bundle.ts';
import type { CertificatePolicy } from './certificate-policy.ts';
import { readRotationSecret } from './read-rotation-secret.ts';
import { readCertificate } from './read-certificate.ts';
import { hasExpired, isAccepted, rotationBundle } from './rotation-bundle.ts';
import { earliest, latest } from './rotation-schedule.ts';
import type { RetiringAuthority, RotationChange, RotationState } from './rotation-state.ts';
import type { Leaf } from './serving-certificate.ts';
import type { ServingPair } from './verify-chain.ts';
import type { SecretText } from './write-rotation-secret.ts';

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
  readonly current?: Leaf;
  /** The last known leaf has expired: no admission succeeds any more, so nothing can be lost by swapping at once. */
  readonly expired: boolean;
  readonly changes: readonly RotationChange[];
}

/** No more authorities than this are taken over from live objects: a stuffed caBundle must not outgrow a Secret. */
const mostAdopted = 16;

/**
 * Compares what is stored with what is live. The live system wins where it works: a leaf that replicas serve with success is kept until its
 * successor is trusted everywhere, and authorities that the stored state has forgotten (lost, damaged, or restored from a backup) come
 * back as retiring ones. A serving Secret that nobody trusts is foreign and not looked at.
 */
export function recoverRotation(
  observed: ObservedCertificates,
  context: { readonly policy: CertificatePolicy; readonly jitter: number; readonly now: Date },
): RecoveredRotation {
  const { stored, serving, bundles } = observed;
  const { policy, jitter, now } = context;
  const terms = { duration: policy.leafDuration, keySize: policy.keySize, jitter };
  const unknownUse = new Date(now.getTime() + policy.leafDuration);
  const read = stored && readRotationSecret(stored, { terms, retireAfter: unknownUse });
  const faults = read?.faults ?? [];
  const changes: RotationChange[] = faults.map((message) => ({ kind: 'Repaired', subject: 'StoredState', message }));
  let state: RotationState = read?.state ?? { retiring: [] };

  const published = bundles.flatMap(parseBundle);
  const isStranger = serving !== undefined && !isAccepted(serving, rotationBundle(state), now);
  const isTrusted = serving !== undefined && published.some(({ pem }) => isAccepted(serving, pem, now));
  // A stored state that does not know a leaf which works is out of date: restored from a backup, say.
  const isForgetful = read === undefined || faults.length > 0 || (isStranger && isTrusted);
  const isAdoptable = isForgetful && isStranger && isAccepted(serving, serving.caPem, now);
  const adopted = adopt(state, isForgetful ? [...(isAdoptable ? parseBundle(serving.caPem) : []), ...published] : [], {
    now,
    unknownUse,
    served: isAdoptable ? serving : undefined,
  });
  if (adopted.length > 0) {
    state = { ...state, retiring: [...state.retiring, ...adopted] };
    changes.push({
      kind: 'Repaired',
      subject: 'Bundle',
      message: `${adopted.length} authorities in use, unknown to the stored state, stay in the bundle`,
    });
  }

  const bundle = rotationBundle(state);
  const known = [serving, state.leaf].filter((leaf) => leaf !== undefined);
  const current = known.find((leaf) => isAccepted(leaf, bundle, now));
  if (serving !== undefined && current !== serving && !hasExpired(serving, bundle, now)) {
    changes.push({
      kind: 'Repaired',
      subject: 'ServingSecret',
      message: 'the serving Secret held no pair that the bundle verifies',
    });
  }
  if (state.leaf !== undefined && !isAccepted(state.leaf, bundle, now) && !hasExpired(state.leaf, bundle, now)) {
    const { authority, staged, retiring } = state;
    state = { ...(authority && { authority }), ...(staged && { staged }), retiring };
    changes.push({ kind: 'Repaired', subject: 'StoredState', message: 'tls.crt is of no stored authority' });
  }
  if (state.leaf === undefined && current !== undefined) {
    state = { ...state, leaf: { certificatePem: current.certificatePem, privateKeyPem: current.privateKeyPem, terms } };
  }
  return {
    state: current === undefined ? state : keepWhileInUse(state, current, now),
    ...(current && { current }),
    expired: current === undefined && known.some((leaf) => hasExpired(leaf, bundle, now)),
    changes,
  };
}

function adopt(
  state: RotationState,
  found: readonly BundleEntry[],
  use: { readonly now: Date; readonly unknownUse: Date; readonly served: Leaf | undefined },
): RetiringAuthority[] {
  const known = new Set(parseBundle(rotationBundle(state)).map(({ fingerprint }) => fingerprint));
  const servedUntil = use.served && parseBundle(use.served.certificatePem)[0]?.notAfter;
  const adopted = new Map<string, RetiringAuthority>();
  for (const { fingerprint, pem, notAfter } of found) {
    if (!known.has(fingerprint) && notAfter > use.now && adopted.size < mostAdopted) {
      adopted.set(fingerprint, {
        certificatePem: pem,
        retireAfter: earliest(notAfter, latest(use.unknownUse, servedUntil)),
      });
    }
  }
  return [...adopted.values()];
}

/** A retiring authority stays for as long as the leaf that is in use was signed by it, whatever was reckoned before. */
function keepWhileInUse(state: RotationState, current: Leaf, now: Date): RotationState {
  const { notAfter } = readCertificate(current.certificatePem);
  return {
    ...state,
    retiring: state.retiring.map((authority) =>
      isAccepted(current, authority.certificatePem, now)
        ? { ...authority, retireAfter: latest(authority.retireAfter, notAfter) }
        : authority,
    ),
  };
}
