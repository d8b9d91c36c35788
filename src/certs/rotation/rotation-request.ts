import { readCertificate } from '../read-certificate.ts';
import { isAccepted, earliest, type AnsweredRequest, type RotationState } from './rotation-state.ts';
import type { RotationSituation } from './rotation-confirmation.ts';
import type { CertifiedKey } from '../key-pair.ts';

/** A renewal that a person asks for. */
export type RenewalRequest = Pick<AnsweredRequest, 'nonce' | 'target'>;

/** What a request asks to be made in this pass; undefined when it was begun before. */
export function begins(state: RotationState, request: RenewalRequest | undefined): 'Leaf' | 'Authority' | undefined {
  if (request === undefined || state.request?.nonce === request.nonce) return undefined;
  return request.target === 'leaf' ? 'Leaf' : 'Authority';
}

/** Puts on record that a request was begun, once this pass has made what it asks for; otherwise the next pass tries again. */
export function noteRequest(
  state: RotationState,
  before: RotationState,
  request: RenewalRequest | undefined,
  isGiven: boolean,
): RotationState {
  const begun = begins(state, request);
  if (begun === undefined || request === undefined) return state;
  // Where somebody else issues there is nothing to make: what remains is to drop old authorities by force.
  const isMade =
    isGiven ||
    (begun === 'Leaf'
      ? state.leaf?.certificatePem !== before.leaf?.certificatePem
      : state.staged !== undefined || state.authority?.certificatePem !== before.authority?.certificatePem);
  const { nonce, target } = request;
  return isMade ? { ...state, request: { nonce, target, state: 'Accepted' } } : state;
}

/**
 * After a theft the old authorities leave as soon as every replica has had `confirmationPeriod` to take over the new leaf, counted from when that
 * stood in the serving Secret; a leaf of theirs that is still in use would otherwise fail.
 */
export function forceRetirement(state: RotationState, { current, policy, now }: RotationSituation): RotationState {
  const { request, authority, staged } = state;
  const isSwapped =
    staged === undefined &&
    authority !== undefined &&
    current !== undefined &&
    isAccepted(current.certificatePem, authority.certificatePem, now);
  if (request?.target !== 'authority-force' || request.state === 'Done' || !isSwapped) return state;
  const latestEnd = new Date(now.getTime() + policy.confirmationPeriod);
  const retiring = state.retiring.map((each) => ({ ...each, retireAfter: earliest(latestEnd, each.retireAfter) }));
  return { ...state, retiring };
}

/** Notes that the request on record is done, with what is served at the end of this pass. */
export function finishRequest(state: RotationState, served: CertifiedKey | undefined): RotationState {
  const { request, authority, leaf, staged, retiring } = state;
  if (request === undefined || request.state === 'Done' || staged !== undefined) return state;
  const isServed = leaf !== undefined && leaf.certificatePem === served?.certificatePem && authority !== undefined;
  const isDropped = request.target !== 'authority-force' || retiring.length === 0;
  const isOfAuthority =
    isServed &&
    isAccepted(leaf.certificatePem, authority.certificatePem, readCertificate(leaf.certificatePem).notBefore);
  return isOfAuthority && isDropped ? { ...state, request: { ...request, state: 'Done' } } : state;
}
