import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';

/**
 * How long all API servers of a cluster may need to use a changed webhook or policy, in
 * milliseconds. An API server compiles changed policies once a second (k8s.io/apiserver
 * `policyRefreshInterval`), after its watch has delivered them.
 */
const propagationMs = 5000;
/** The age at which a proof is repeated, in ms: an API server may stop applying policies. */
const repeatMs = 300_000;

/** A policy and its bindings that the API server has been shown to apply. */
export interface PolicyProof {
  readonly identity: string;
  readonly desired: readonly KubernetesObject[];
  /** When they were first shown to act, and when last, in milliseconds. */
  readonly at: number;
  readonly checkedAt: number;
}

export interface HoldFacts {
  /** Since when the live webhook ignores no failed call; undefined while it ignores them. */
  readonly quietSince?: number | undefined;
  /** The last proof, perhaps of other objects. */
  readonly proof?: PolicyProof | undefined;
  /** The policy and its bindings: those that exist, and those to write. */
  readonly live: readonly KubernetesObject[];
  readonly desired: readonly KubernetesObject[];
  /** Whether the desired objects were written just now. */
  readonly isWritten: boolean;
}

export type HoldStep =
  /** The webhook may ignore failed calls, because of this proof. */
  | { readonly action: 'Rely'; readonly proof: PolicyProof }
  /** Show that the policy acts, and decide again. */
  | { readonly action: 'Prove' }
  /** Replace the policy with the desired one, and decide again. */
  | { readonly action: 'Replace' }
  /** The webhook must use its fallback. `Restore` also writes the desired policy in place. */
  | { readonly action: 'Wait' | 'Restore'; readonly message: string; readonly retryAfter: number };

/** Decides whether a webhook may ignore failed calls, or else what to do before. */
export function decideHold({ quietSince, proof, live, desired, isWritten }: HoldFacts, now: number): HoldStep {
  const isIgnoring = quietSince === undefined;
  if (!isWritten && !areAsDesired(live, desired)) {
    const wait = live.length === 0 && !isIgnoring ? 0 : quietLeft(quietSince, now);
    if (wait <= 0) return { action: 'Replace' };
    // Restore at once, but without a gap, what another client has changed or deleted.
    const action = isIgnoring && isDeepStrictEqual(proof?.desired, desired) ? 'Restore' : 'Wait';
    return { action, message: 'the policy changes once every API server uses the fallback', retryAfter: wait };
  }
  const identity = identityOf(live);
  if (isIgnoring) {
    // A new leader relies on the proof of the last one, because the webhook ignores failed calls.
    const known = proof ?? { identity, desired, at: -Infinity, checkedAt: now };
    return now - known.checkedAt < repeatMs ? { action: 'Rely', proof: known } : { action: 'Prove' };
  }
  if (proof?.identity !== identity) return { action: 'Prove' };
  const wait = proof.at + propagationMs - now;
  if (wait <= 0) return { action: 'Rely', proof };
  const message = 'the policy acts on one API server, and needs time to reach the others';
  return { action: 'Wait', message, retryAfter: wait };
}

/** Returns the proof of a policy that has just been shown to act. */
export function provenNow({ proof, live, desired }: HoldFacts, now: number): PolicyProof {
  const identity = identityOf(live);
  return { identity, desired, at: proof?.identity === identity ? proof.at : now, checkedAt: now };
}

/** Returns how long API servers may still use a webhook that ignores failed calls, in ms. */
export function quietLeft(quietSince: number | undefined, now: number): number {
  return (quietSince ?? now) + propagationMs - now;
}

/** Returns a text that changes when one of the objects changes or is created again. */
export function identityOf(live: readonly KubernetesObject[]): string {
  return JSON.stringify(live.map(({ metadata: { uid, generation } }) => [uid, generation]));
}

function areAsDesired(live: readonly KubernetesObject[], desired: readonly KubernetesObject[]): boolean {
  const isSame = ({ metadata: { name }, spec }: KubernetesObject): boolean =>
    live.some(({ metadata, spec: found }) => {
      return metadata.name === name && metadata.deletionTimestamp === undefined && isDeepStrictEqual(found, spec);
    });
  return live.length === desired.length && desired.every(isSame);
}
