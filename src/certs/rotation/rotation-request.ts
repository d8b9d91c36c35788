import {
  isAccepted,
  isSameChain,
  earliestTime,
  wasAccepted,
  type AnsweredRequest,
  type CertifiedLeaf,
  type RotationState,
} from './rotation-state.ts';
import type { RotationSituation } from './rotation-confirmation.ts';

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
      ? !isSameChain(state.leaf, before.leaf)
      : state.staged !== undefined || !isSameChain(state.authority, before.authority));
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
    isAccepted(current.chain, authority.chain, now);
  if (request?.target !== 'authority-force' || request.state === 'Done' || !isSwapped) return state;
  const latestEnd = new Date(now.getTime() + policy.confirmationPeriod);
  const retiring = state.retiring.map((each) => ({ ...each, retireAfter: earliestTime(latestEnd, each.retireAfter) }));
  return { ...state, retiring };
}

/** Records that the request is done if `served`, the leaf of this pass, fulfills it. */
export function finishRequest(state: RotationState, served: CertifiedLeaf | undefined): RotationState {
  const { request, authority, leaf, staged, retiring } = state;
  if (request === undefined || request.state === 'Done' || staged !== undefined) return state;
  const isServed = leaf !== undefined && isSameChain(leaf, served) && authority !== undefined;
  const isDropped = request.target !== 'authority-force' || retiring.length === 0;
  const isOfAuthority = isServed && wasAccepted(leaf.chain, authority.chain);
  return isOfAuthority && isDropped ? { ...state, request: { ...request, state: 'Done' } } : state;
}
