import { readCertificate } from '../read-certificate.ts';
import { isAccepted } from './rotation-bundle.ts';
import { servableAt, type RotationSituation } from './rotation-confirmation.ts';
import { earliest, latest, renewalTime } from './rotation-schedule.ts';
import type { RotationPhase, RotationState } from './rotation-state.ts';
import type { Leaf } from '../serving-certificate.ts';

/** The stored leaf, unless a leaf of another authority is in use and the stored one's is not trusted everywhere yet. */
export function chooseLeaf({ authority, leaf }: RotationState, situation: RotationSituation): Leaf | undefined {
  const { current, now } = situation;
  if (leaf === undefined || authority === undefined) return current;
  if (current !== undefined && isAccepted(current.certificatePem, authority.certificatePem, now)) return leaf;
  const at = servableAt(authority, situation);
  return at !== undefined && at <= now ? leaf : current;
}

/** Where the rotation stands once `served` is what replicas are given. */
export function phaseOf({ staged, retiring, leaf }: RotationState, served: Leaf | undefined): RotationPhase {
  if (staged !== undefined) return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  if (leaf?.certificatePem !== served?.certificatePem) return 'Confirming';
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

/** How soon to look again while something is not read back yet; events come sooner. */
const pollPeriod = 5000;

/** When the next renewal is due, and when to look again at the latest. */
export function deadlines(
  state: RotationState,
  served: Leaf | undefined,
  situation: RotationSituation,
): { readonly renewAt: Date; readonly nextAt: Date } {
  const { policy, now } = situation;
  // An authority whose key somebody else has is not ours to renew.
  const own = state.authority?.privateKeyPem === undefined ? undefined : state.authority;
  const renewals = [state.leaf, state.staged === undefined ? own : undefined].map(
    (holder) => holder && renewalTime(readCertificate(holder.certificatePem).notAfter, holder.terms, policy),
  );
  // An authority is waited for until its leaf is served.
  const isServed = state.leaf?.certificatePem === served?.certificatePem;
  const waiting = [isServed ? undefined : state.authority, state.staged].map(
    (authority) => authority && (servableAt(authority, situation) ?? new Date(now.getTime() + pollPeriod)),
  );
  const unfinished = state.request?.state === 'Accepted' ? new Date(now.getTime() + pollPeriod) : undefined;
  const times = [unfinished, ...renewals, ...waiting, ...state.retiring.map(({ retireAfter }) => retireAfter)];
  const far = new Date(now.getTime() + policy.leafDuration);
  const soon = new Date(now.getTime() + 1000);
  return {
    renewAt: earliest(far, ...renewals),
    nextAt: latest(soon, earliest(far, ...times.filter((time) => time !== undefined && time > now))),
  };
}
