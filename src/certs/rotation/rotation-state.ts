import { z } from 'zod';
import type { CertificatePolicy } from '../certificate-policy.ts';
import type { CertifiedKey } from '../key-pair.ts';
import { bundleFingerprints, parseBundle, readCertificate } from '../read-certificate.ts';
import { verifyChain } from '../verify-chain.ts';

/** Converts between the text in the Secret and a Date. */
export const time = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** The terms under which a certificate was issued; it is due when the policy differs. */
export const issueTerms = z.object({
  issuedAt: time,
  /** Milliseconds. */
  duration: z.number().positive(),
  keySize: z.int().positive(),
  /** A random number in [0, 1), drawn once; it brings the renewal forward. */
  jitter: z.number().min(0).lt(1),
});
export type IssueTerms = Readonly<z.output<typeof issueTerms>>;

/** An authority that signs the current or the next served leaf. */
export interface StoredAuthority {
  readonly certificatePem: string;
  /** Absent when another issuer signs. */
  readonly privateKeyPem?: string;
  readonly terms: IssueTerms;
  /** The time since which every webhook configuration has had it without interruption. */
  readonly publishedAt?: Date;
  /** The end of the last leaf that it signed. */
  readonly lastLeafNotAfter?: Date;
}

export interface StoredLeaf extends CertifiedKey {
  readonly terms: IssueTerms;
}

/** An authority that no longer signs, but stays in the bundle until no leaf of it can be in use. */
export interface RetiringAuthority {
  readonly certificatePem: string;
  readonly retireAfter: Date;
}

/** A requested renewal: accepted, or done (served, and old authorities dropped when forced). */
export const answeredRequest = z.object({
  /** Identifies the request: each nonce is served once. */
  nonce: z.string(),
  /** `authority-force` also drops the old authority, so that leaves of a stolen key fail. */
  target: z.enum(['leaf', 'authority', 'authority-force']),
  state: z.enum(['Accepted', 'Done']),
});
export type AnsweredRequest = Readonly<z.output<typeof answeredRequest>>;

/** The state that a rotation keeps in one Secret; see rotation-secret.ts. */
export interface RotationState {
  /** Signs new leaves. Absent before the first issuance and after the loss of its key. */
  readonly authority?: StoredAuthority;
  /** The next authority: published in the bundle, has signed nothing yet. */
  readonly staged?: StoredAuthority;
  readonly leaf?: StoredLeaf;
  readonly retiring: readonly RetiringAuthority[];
  /** The latest renewal that a user requested. */
  readonly request?: AnsweredRequest;
}

/** The phase of a rotation, for the status. */
export type RotationPhase = 'Stable' | 'Publishing' | 'Confirming' | 'Retiring';

/** One decision of a pass, for Events, logs and metrics. Contains no secrets. */
export interface RotationChange {
  readonly kind: 'Issued' | 'Staged' | 'Published' | 'Swapped' | 'Retired' | 'Repaired';
  readonly subject: 'Authority' | 'ServingCertificate' | 'StoredState' | 'ServingSecret' | 'Bundle';
  /** With `Swapped`: milliseconds since the authority was staged. */
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

/** The largest share of the time until renewal by which jitter brings it forward. */
const jitterShare = 0.1;

/** Returns `renewalFraction` of the life, minus up to a tenth, which spreads the revisions. */
export function renewalTime(notAfter: Date, { issuedAt, jitter }: IssueTerms, policy: CertificatePolicy): Date {
  const life = notAfter.getTime() - issuedAt.getTime();
  return new Date(issuedAt.getTime() + life * policy.renewalFraction * (1 - jitterShare * jitter));
}

/** Returns the latest of some times; undefined ones do not count. */
export function latest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time > found ? time : found), first);
}

/** Returns the earliest of some times; undefined ones do not count. */
export function earliest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time < found ? time : found), first);
}

/**
 * Returns the CA bundle of a state: every authority, oldest first. The order does not depend on
 * roles, so a swap does not change the bundle (each new caBundle makes the API server open new
 * connections).
 */
export function rotationBundle({ authority, staged, retiring }: RotationState): string {
  const pems = [authority, staged, ...retiring].flatMap((holder) =>
    holder === undefined ? [] : [holder.certificatePem],
  );
  return parseBundle(pems.join('\n'))
    .sort(
      (one, other) => Number(one.notBefore) - Number(other.notBefore) || (one.fingerprint < other.fingerprint ? -1 : 1),
    )
    .map(({ pem }) => pem)
    .join('');
}

/** Reports whether the API server accepts a leaf; ignores a future notBefore (a slow clock). */
export function isAccepted(certificatePem: string, caPem: string, now: Date): boolean {
  const [leaf] = parseBundle(certificatePem);
  return leaf !== undefined && verifyChain(certificatePem, caPem, { now: latest(now, leaf.notBefore) }).length === 0;
}

/** Reports whether a leaf was valid when new; if it is not accepted now, its chain expired. */
export function wasAccepted(certificatePem: string, caPem: string): boolean {
  const [leaf] = parseBundle(certificatePem);
  return leaf !== undefined && isAccepted(certificatePem, caPem, leaf.notBefore);
}

/** Reports whether every bundle holds this certificate; true without bundles. */
export function isEverywhere(certificatePem: string, bundles: readonly string[]): boolean {
  const { fingerprint } = readCertificate(certificatePem);
  return bundles.every((bundle) => bundleFingerprints(bundle).has(fingerprint));
}
