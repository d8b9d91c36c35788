import { readCertificate } from '../read-certificate.ts';
import type { RotationRecord } from './rotation-record.ts';
import type { IssueTerms, RotationState, StoredAuthority } from './rotation-state.ts';

/** The decoded `data` of a Secret. */
export type SecretText = Readonly<Record<string, string>>;

/**
 * The Secret's data for a state: certificates and keys in PEM under `ca.*` (signs), `staged.*` (the next authority), `tls.*` (the leaf) and
 * `retiring.crt`; times and fingerprints in `rotation.json`. Equal states give equal data.
 */
export function writeRotationSecret(state: RotationState): SecretText {
  const { authority, staged, leaf, retiring, request } = state;
  const record: RotationRecord = {
    version: 1,
    ...(authority && { authority: recordOf(authority) }),
    ...(staged && { staged: recordOf(staged) }),
    ...(leaf && {
      leaf: { fingerprint: readCertificate(leaf.certificatePem).fingerprint, terms: recordedTerms(leaf.terms) },
    }),
    retiring: retiring.map(({ certificatePem, retireAfter }) => ({
      fingerprint: readCertificate(certificatePem).fingerprint,
      retireAfter: retireAfter.toISOString(),
    })),
    ...(request && { request }),
  };
  return {
    'rotation.json': JSON.stringify(record),
    ...(authority && { 'ca.crt': authority.certificatePem }),
    ...(authority?.privateKeyPem !== undefined && { 'ca.key': authority.privateKeyPem }),
    ...(staged && { 'staged.crt': staged.certificatePem }),
    ...(staged?.privateKeyPem !== undefined && { 'staged.key': staged.privateKeyPem }),
    ...(leaf && { 'tls.crt': leaf.certificatePem, 'tls.key': leaf.privateKeyPem }),
    ...(retiring.length > 0 && { 'retiring.crt': retiring.map(({ certificatePem }) => certificatePem).join('') }),
  };
}

type AuthorityRecord = NonNullable<RotationRecord['authority']>;

function recordOf(stored: StoredAuthority): AuthorityRecord {
  return {
    fingerprint: readCertificate(stored.certificatePem).fingerprint,
    terms: recordedTerms(stored.terms),
    ...(stored.privateKeyPem === undefined && { given: true as const }),
    ...(stored.publishedAt && { publishedAt: stored.publishedAt.toISOString() }),
    ...(stored.lastLeafNotAfter && { lastLeafNotAfter: stored.lastLeafNotAfter.toISOString() }),
  };
}

function recordedTerms(terms: IssueTerms): AuthorityRecord['terms'] {
  return { ...terms, issuedAt: terms.issuedAt.toISOString() };
}
