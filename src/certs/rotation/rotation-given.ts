import { isAuthorityOf, type GivenCertificates } from './given-certificates.ts';
import { readCertificate } from '../read-certificate.ts';
import type { RotationInput } from './rotation-input.ts';
import type { RotationChange, RotationState } from './rotation-state.ts';
import { abandoned, staging, withLeaf } from './rotation-steps.ts';

/** Stages the authority of given certificates, unless it is in use or staged already. What else was staged makes way. */
export function stageGiven(
  state: RotationState,
  given: GivenCertificates,
  { policy, now, bundles }: RotationInput,
  changes: RotationChange[],
): RotationState {
  const { staged, ...rest } = state;
  if (isAuthorityOf(staged, given)) return state;
  const retiring = [...state.retiring, ...abandoned(staged)];
  if (isAuthorityOf(state.authority, given)) return { ...rest, retiring };
  const { authorityPem, origin } = given;
  changes.push(staging(authorityPem, `given by ${origin}`, bundles));
  const duration = readCertificate(authorityPem).notAfter.getTime() - now.getTime();
  const terms = { issuedAt: now, duration, keySize: policy.keySize, jitter: 0 };
  return { ...rest, staged: { certificatePem: authorityPem, terms }, retiring };
}

/** Takes the given leaf over, once its authority is the one whose leaves may be served. */
export function takeGivenLeaf(
  state: RotationState,
  given: GivenCertificates,
  { policy }: RotationInput,
  changes: RotationChange[],
): RotationState {
  const { authority, leaf } = state;
  const { certificatePem, privateKeyPem, origin } = given;
  const isTaken = leaf?.certificatePem === certificatePem && leaf.privateKeyPem === privateKeyPem;
  if (authority === undefined || isTaken || !isAuthorityOf(authority, given)) return state;
  const { notBefore, notAfter } = readCertificate(certificatePem);
  // Of its whole life, not of what was left when we got it: that is what its owner goes by.
  const duration = notAfter.getTime() - notBefore.getTime();
  const terms = { issuedAt: notBefore, duration, keySize: policy.keySize, jitter: 0 };
  return withLeaf(state, authority, { certificatePem, privateKeyPem, terms }, `given by ${origin}`, changes);
}
