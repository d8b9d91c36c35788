import { subjectAltNames, type CertificateNames } from '../certificate-names.ts';
import { durationText, type CertificatePolicy } from '../certificate-policy.ts';
import { readCertificate } from '../read-certificate.ts';
import { isAccepted } from './rotation-bundle.ts';
import { renewalTime } from './rotation-schedule.ts';
import type { IssueTerms, StoredAuthority, StoredLeaf } from './rotation-state.ts';
import { leafValidity } from '../validity.ts';
import { coversName } from '../verify-chain.ts';

/** Why a new authority is needed, in one sentence; undefined while the present one will do. */
export function authorityDue(
  authority: StoredAuthority | undefined,
  policy: CertificatePolicy,
  now: Date,
): string | undefined {
  if (authority?.privateKeyPem === undefined) return 'no authority with a key is stored';
  return changedTerms(authority.terms, policy.caDuration, policy.keySize) ?? timeDue(authority, policy, now);
}

/** Why a new leaf is needed, in one sentence; undefined while the present one will do, or `authority` is too old to make a better one. */
export function leafDue(
  leaf: StoredLeaf | undefined,
  authority: StoredAuthority,
  context: {
    readonly policy: CertificatePolicy;
    readonly names: CertificateNames;
    readonly now: Date;
    readonly requested: boolean;
  },
): string | undefined {
  const { policy, names, now } = context;
  const { notAfter: until } = leafValidity(now, policy.leafDuration, readCertificate(authority.certificatePem));
  if (until <= now) return undefined;
  if (leaf === undefined) return 'no serving certificate is stored';
  const facts = readCertificate(leaf.certificatePem);
  if (!isAccepted(leaf.certificatePem, authority.certificatePem, facts.notBefore)) {
    return 'the serving certificate is not of the present authority';
  }
  if (context.requested) return 'asked for';
  const { dns, ip } = subjectAltNames(names);
  const missing = [...dns, ...ip].filter((name) => !coversName(facts.x509, name));
  if (missing.length > 0) return `the serving certificate lacks ${missing.join(', ')}`;
  const changed = changedTerms(leaf.terms, policy.leafDuration, policy.keySize);
  if (changed !== undefined) return changed;
  // Near its own end an authority can only issue ever shorter leaves: renewing would never cease.
  return until > facts.notAfter ? timeDue(leaf, policy, now) : undefined;
}

function timeDue(
  { certificatePem, terms }: StoredAuthority | StoredLeaf,
  policy: CertificatePolicy,
  now: Date,
): string | undefined {
  const facts = readCertificate(certificatePem);
  if (facts.notBefore > now) {
    return `valid only from ${facts.notBefore.toISOString()}: a clock was wrong when it was issued`;
  }
  const renewAt = renewalTime(facts.notAfter, terms, policy);
  return renewAt <= now
    ? `due for renewal since ${renewAt.toISOString()}, expires ${facts.notAfter.toISOString()}`
    : undefined;
}

function changedTerms(terms: IssueTerms, duration: number, keySize: number): string | undefined {
  if (terms.duration !== duration) {
    return `issued for ${durationText(terms.duration)}, ${durationText(duration)} is wanted now`;
  }
  return terms.keySize === keySize ? undefined : `issued with ${terms.keySize} bits, ${keySize} are wanted now`;
}
