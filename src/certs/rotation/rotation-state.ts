import { z } from 'zod';
import type { CertificatePolicy } from '../certificate-policy.ts';
import { distinct, pemOf, type Certificate, type CertificateChain } from '../read-certificate.ts';
import { verifyChain } from '../verify-chain.ts';

/** Converts between the text in the Secret and a Date. */
export const time = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** The terms of an issued certificate. If the policy differs, a renewal is due. */
export const issueTerms = z.object({
  issuedAt: time,
  /** The lifetime in milliseconds. */
  duration: z.number().positive(),
  keySize: z.int().positive(),
  /** A random number in [0, 1), drawn once. It moves the renewal to an earlier time. */
  jitter: z.number().min(0).lt(1),
});
export type IssueTerms = Readonly<z.output<typeof issueTerms>>;

/** An authority that signs the current or the next served leaf. */
export interface StoredAuthority {
  readonly chain: CertificateChain;
  /** Absent if another issuer signs. */
  readonly privateKeyPem?: string;
  readonly terms: IssueTerms;
  /** The time since which every webhook configuration contains the authority. */
  readonly publishedAt?: Date;
  /** The latest notAfter among the leaves that the authority has signed. */
  readonly lastLeafNotAfter?: Date;
}

/** A serving certificate and its key. */
export interface CertifiedLeaf {
  readonly chain: CertificateChain;
  readonly privateKeyPem: string;
}

export interface StoredLeaf extends CertifiedLeaf {
  readonly terms: IssueTerms;
}

/** An authority that no longer signs, but stays in the bundle while its leaves may be used. */
export interface RetiringAuthority {
  readonly chain: CertificateChain;
  readonly retireAfter: Date;
}

/** A requested renewal. Done when replicas serve the new leaf, and after any forced drop. */
export const answeredRequest = z.object({
  /** Identifies the request. Each nonce causes one renewal. */
  nonce: z.string(),
  /** `authority-force` also drops the old authority, so that clients reject its leaves. */
  target: z.enum(['leaf', 'authority', 'authority-force']),
  state: z.enum(['Accepted', 'Done']),
});
export type AnsweredRequest = Readonly<z.output<typeof answeredRequest>>;

/** The state that a rotation keeps in one Secret; see rotation-secret.ts. */
export interface RotationState {
  /** The authority that signs leaves. Absent before the first issuance, or if its key is lost. */
  readonly authority?: StoredAuthority;
  /** The next authority. The bundle already contains it, but it has signed nothing yet. */
  readonly staged?: StoredAuthority;
  readonly leaf?: StoredLeaf;
  readonly retiring: readonly RetiringAuthority[];
  /** The latest renewal that a user requested. */
  readonly request?: AnsweredRequest;
}

/** The phase of a rotation, for the status. */
export type RotationPhase = 'Stable' | 'Publishing' | 'Confirming' | 'Retiring';

/** One decision of a pass, for Events, logs and metrics, without secrets. */
export interface RotationChange {
  readonly kind: 'Issued' | 'Staged' | 'Published' | 'Swapped' | 'Retired' | 'Repaired';
  readonly subject: 'Authority' | 'ServingCertificate' | 'StoredState' | 'ServingSecret' | 'Bundle';
  /** For `Swapped`, the milliseconds since the authority was staged. */
  readonly confirmedAfter?: number;
  /** One sentence with the reason. */
  readonly message: string;
}

export function changeOf(
  kind: RotationChange['kind'],
  subject: RotationChange['subject'],
  message: string,
): RotationChange {
  return { kind, subject, message };
}

/** The state in a pass, with the decisions of the pass so far. */
export interface RotationPass extends RotationState {
  readonly changes: readonly RotationChange[];
}

/** Adds a decision, if there is one. */
export function noted(pass: RotationPass, change: RotationChange | undefined): RotationPass {
  return change === undefined ? pass : { ...pass, changes: [...pass.changes, change] };
}

/** The maximum fraction by which jitter shortens the time until renewal. */
const jitterShare = 0.1;

/** Returns when to renew: after `renewalFraction` of the lifetime, minus up to 10% of jitter. */
export function renewalTime(notAfter: Date, { issuedAt, jitter }: IssueTerms, policy: CertificatePolicy): Date {
  const life = notAfter.getTime() - issuedAt.getTime();
  return new Date(issuedAt.getTime() + life * policy.renewalFraction * (1 - jitterShare * jitter));
}

/** Returns the latest of some times; ignores undefined. */
export function latest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time > found ? time : found), first);
}

/** Returns the earliest of some times; ignores undefined. */
export function earliestTime(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time < found ? time : found), first);
}

/**
 * Returns the CA bundle of a state: every authority, oldest first. The order does not depend on
 * roles, so a swap does not change the bundle (each new caBundle makes the API server open new
 * connections).
 */
export function rotationBundle({ authority, staged, retiring }: RotationState): Certificate[] {
  return distinct([authority, staged, ...retiring].flatMap((holder) => holder?.chain ?? [])).sort(
    (one, other) => Number(one.notBefore) - Number(other.notBefore) || (one.fingerprint < other.fingerprint ? -1 : 1),
  );
}

/** Reports whether the API server accepts a leaf. Tolerates a future notBefore (slow clock). */
export function isAccepted(chain: readonly Certificate[], authorities: readonly Certificate[], now: Date): boolean {
  const [leaf] = chain;
  return leaf !== undefined && verifyChain(chain, authorities, { now: latest(now, leaf.notBefore) }).length === 0;
}

/** Reports whether a leaf was valid when it was issued, even if its chain has expired since. */
export function wasAccepted(chain: CertificateChain, authorities: readonly Certificate[]): boolean {
  return isAccepted(chain, authorities, chain[0].notBefore);
}

/** Reports whether every bundle contains this certificate; true if there are no bundles. */
export function isEverywhere([{ fingerprint }]: CertificateChain, bundles: RotationBundles): boolean {
  return bundles.every((bundle) => bundle.some((each) => each.fingerprint === fingerprint));
}

/** Reports whether two certificates and their intermediates are equal, or both are absent. */
export function isSameChain(one: Chained | undefined, other: Chained | undefined): boolean {
  return pemOf(one?.chain ?? []) === pemOf(other?.chain ?? []);
}

type Chained = Pick<CertifiedLeaf, 'chain'>;

/** The certificates in the caBundle of each webhook that calls the replicas. */
export type RotationBundles = readonly (readonly Certificate[])[];
