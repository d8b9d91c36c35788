import { issueAuthority } from '../../certs/authority.ts';
import { joinBundle, parseBundle } from '../../certs/bundle.ts';
import { subjectAltNames, type CertificateNames } from '../../certs/certificate-names.ts';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { RandomBytes } from '../../certs/random-source.ts';
import { readCertificate } from '../../certs/read-certificate.ts';
import { issueServingCertificate } from '../../certs/serving-certificate.ts';
import { UsageError } from '../usage-error.ts';

export interface CreateInput {
  readonly names: CertificateNames;
  /** Milliseconds. */
  readonly duration: number;
  readonly keySize: number;
  /** Authorities that are trusted already and must stay so while the old certificate is served; PEM. */
  readonly previous?: string;
  readonly now: Date;
  readonly random: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
}

/** The three texts of a `kubernetes.io/tls` Secret, by their keys. */
export interface CreatedCertificates {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  /** The new authority first. */
  readonly 'ca.crt': string;
  readonly notAfter: Date;
}

/**
 * Makes an authority, lets it sign one serving certificate, and forgets its key: nobody can sign with it later. Both end at the same time, so that
 * there is one date to remember.
 * @throws UsageError when `previous` holds no certificate; CertificatePolicyError when a name cannot stand in a certificate.
 */
export async function createCertificates(input: CreateInput): Promise<CreatedCertificates> {
  const { names, duration, keySize, previous, now, random, generateKeyPair } = input;
  if (previous !== undefined && parseBundle(previous).length === 0) {
    throw new UsageError('--previous: the file holds no certificate in PEM; give the ca.crt that is trusted now');
  }
  // Names that cannot be are refused before keys are made, which takes a second.
  subjectAltNames(names);
  const [authorityKeys, leafKeys] = await Promise.all([generateKeyPair(keySize), generateKeyPair(keySize)]);
  const authority = issueAuthority(names.service, authorityKeys, { now, duration, random });
  const leaf = issueServingCertificate(authority, names, leafKeys, { now, duration, random });
  return {
    'tls.crt': leaf.certificatePem,
    'tls.key': leaf.privateKeyPem,
    'ca.crt': joinBundle([authority.certificatePem, previous ?? '']),
    notAfter: readCertificate(leaf.certificatePem).notAfter,
  };
}
