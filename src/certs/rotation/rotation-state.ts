import { z } from 'zod';
import type { CertificatePolicy } from '../certificate-policy.ts';
import type { CertifiedKey } from '../key-pair.ts';
import { bundleFingerprints, parseBundle, readCertificate } from '../read-certificate.ts';
import { verifyChain } from '../verify-chain.ts';

/** A time as the Secret has it. */
export const time = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** What a certificate was issued for; when the policy differs, it is due. */
export const issueTerms = z.object({
  issuedAt: time,
  /** Milliseconds. */
  duration: z.number().positive(),
  keySize: z.int().positive(),
  /** Drawn once, in [0, 1); makes the renewal earlier. */
  jitter: z.number().min(0).lt(1),
});
export type IssueTerms = Readonly<z.output<typeof issueTerms>>;

/** An authority of which the leaf that is served is, or will be. */
export interface StoredAuthority {
  readonly certificatePem: string;
  /** Absent when somebody else issues: then we sign nothing. */
  readonly privateKeyPem?: string;
  readonly terms: IssueTerms;
  /** Since when it was read back from every webhook configuration without a gap. */
  readonly publishedAt?: Date;
  /** When the last leaf that it signed expires. */
  readonly lastLeafNotAfter?: Date;
}

/** The leaf that is to be served. */
export interface StoredLeaf extends CertifiedKey {
  readonly terms: IssueTerms;
}

/** An authority that signs no more but stays in the bundle until no leaf of it can be in use. */
export interface RetiringAuthority {
  readonly certificatePem: string;
  readonly retireAfter: Date;
}

/** A renewal that was asked for, and how far it is: begun, or served (and, when forced, the old authorities gone). */
export const answeredRequest = z.object({
  /** Tells requests apart: one that was answered is not answered again. */
  nonce: z.string(),
  /** `authority-force` also drops the old authority, and with it whatever was signed with a stolen key, before its last leaf has expired. */
  target: z.enum(['leaf', 'authority', 'authority-force']),
  state: z.enum(['Accepted', 'Done']),
});
export type AnsweredRequest = Readonly<z.output<typeof answeredRequest>>;

/** Everything that a rotation must remember; stored in one Secret, see rotation-secret.ts. */
export interface RotationState {
  /** Signs new leaves. Absent before the first issuance and after its key was lost. */
  readonly authority?: StoredAuthority;
  /** The next authority: published in the bundle, has signed nothing yet. */
  readonly staged?: StoredAuthority;
  readonly leaf?: StoredLeaf;
  readonly retiring: readonly RetiringAuthority[];
  /** The latest renewal that a person asked for. */
  readonly request?: AnsweredRequest;
}

/** Where a rotation stands, for status. */
export type RotationPhase = 'Stable' | 'Publishing' | 'Confirming' | 'Retiring';

/** One thing that a pass decided, for Events, logs and metrics. Holds no secrets. */
export interface RotationChange {
  readonly kind: 'Issued' | 'Staged' | 'Published' | 'Swapped' | 'Retired' | 'Repaired';
  readonly subject: 'Authority' | 'ServingCertificate' | 'StoredState' | 'ServingSecret' | 'Bundle';
  /** With `Swapped`: milliseconds since the authority was staged. */
  readonly confirmedAfter?: number;
  /** One sentence with the reason. */
  readonly message: string;
}

/** A change of which there is nothing more to say. */
export function changeOf(
  kind: RotationChange['kind'],
  subject: RotationChange['subject'],
  message: string,
): RotationChange {
  return { kind, subject, message };
}

/** The largest share of the time until renewal by which jitter brings it forward. */
const jitterShare = 0.1;

/** When to renew: at `renewalFraction` of the life, or up to a tenth earlier, so that revisions do not renew in one go. */
export function renewalTime(notAfter: Date, { issuedAt, jitter }: IssueTerms, policy: CertificatePolicy): Date {
  const life = notAfter.getTime() - issuedAt.getTime();
  return new Date(issuedAt.getTime() + life * policy.renewalFraction * (1 - jitterShare * jitter));
}

/** The later of some times; undefined ones do not count. */
export function latest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time > found ? time : found), first);
}

/** The earliest of some times; undefined ones do not count. */
export function earliest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((found, time) => (time !== undefined && time < found ? time : found), first);
}

/**
 * The caBundle of a state: every authority in it, oldest first. The order does not depend on their roles, so that a swap leaves the bundle
 * as it is (each new caBundle value makes the API server open new connections).
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

/** Whether the API server accepts a serving certificate with this bundle. One from the future counts as good: it may be our clock that is behind. */
export function isAccepted(certificatePem: string, caPem: string, now: Date): boolean {
  const [leaf] = parseBundle(certificatePem);
  return leaf !== undefined && verifyChain(certificatePem, caPem, { now: latest(now, leaf.notBefore) }).length === 0;
}

/** Whether a serving certificate was good when it was new: if it is not accepted now, it or its authority has expired. */
export function wasAccepted(certificatePem: string, caPem: string): boolean {
  const [leaf] = parseBundle(certificatePem);
  return leaf !== undefined && isAccepted(certificatePem, caPem, leaf.notBefore);
}

/** Whether every one of the bundles holds this certificate; true when there is none. */
export function isEverywhere(certificatePem: string, bundles: readonly string[]): boolean {
  const { fingerprint } = readCertificate(certificatePem);
  return bundles.every((bundle) => bundleFingerprints(bundle).has(fingerprint));
}
