import { readCertificate } from '../read-certificate.ts';
import { isAccepted, earliestTime, type AnsweredRequest, type RotationState } from './rotation-state.ts';
import type { RotationSituation } from './rotation-confirmation.ts';
import type { CertifiedKey } from '../key-pair.ts';

/** A renewal that a user requests. */
export type RenewalRequest = Pick<AnsweredRequest, 'nonce' | 'target'>;

/** Returns which certificate this pass must renew for a request; undefined if no renewal is due. */
export function toRenew(state: RotationState, request: RenewalRequest | undefined): 'Leaf' | 'Authority' | undefined {
  if (request === undefined || state.request?.nonce === request.nonce) return undefined;
  return request.target === 'leaf' ? 'Leaf' : 'Authority';
}

/** Records a request as accepted once its certificate is renewed. Until then, each pass retries. */
export function noteRequest(
  state: RotationState,
  before: RotationState,
  request: RenewalRequest | undefined,
  isGiven: boolean,
): RotationState {
  const renewal = toRenew(state, request);
  if (renewal === undefined || request === undefined) return state;
  // Another issuer renews its own certificates, so a request can only force out old authorities.
  const hasStarted =
    isGiven ||
    (renewal === 'Leaf'
      ? state.leaf?.certificatePem !== before.leaf?.certificatePem
      : state.staged !== undefined || state.authority?.certificatePem !== before.authority?.certificatePem);
  const { nonce, target } = request;
  return hasStarted ? { ...state, request: { nonce, target, state: 'Accepted' } } : state;
}

/**
 * After a theft, retires old authorities `confirmationPeriod` after the serving Secret has the new
 * leaf: by then, every replica has loaded the leaf. Clients then reject leaves of old authorities.
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
  const retiring = state.retiring.map((each) => ({ ...each, retireAfter: earliestTime(latestEnd, each.retireAfter) }));
  return { ...state, retiring };
}

/** Records that the request is done if `served`, the leaf of this pass, fulfills it. */
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
