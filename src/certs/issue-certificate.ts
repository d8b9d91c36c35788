import { subjectAltNames, type CertificateNames } from './certificate-names.ts';
import type { CertifiedKey, KeyPair } from './key-pair.ts';
import { randomSerialNumber, type RandomBytes } from './random-source.ts';
import { readChain } from './read-certificate.ts';
import { authorityValidity, leafValidity, signCertificate } from './sign-certificate.ts';

/** The current time, the lifetime in milliseconds, and the random source. */
interface IssueOptions {
  readonly now: Date;
  readonly duration: number;
  readonly random: RandomBytes;
}

/**
 * Issues a self-signed authority with a unique subject, so that the authorities in a bundle stay
 * distinct.
 * @param organization the organization of the subject, at most 64 characters
 */
export function issueAuthority(organization: string, keys: KeyPair, options: IssueOptions): CertifiedKey {
  const serialNumber = randomSerialNumber(options.random);
  const certificatePem = signCertificate(
    {
      serialNumber,
      subject: { organizationName: organization, commonName: `Authority ${serialNumber}` },
      publicKeyPem: keys.publicKeyPem,
      ...authorityValidity(options.now, options.duration),
      extensions: [
        { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
        { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
      ],
    },
    keys,
  );
  return { certificatePem, privateKeyPem: keys.privateKeyPem };
}

/** Issues a leaf within the life of its authority. @throws CertificatePolicyError for a bad name */
export function issueServingCertificate(
  authority: CertifiedKey,
  names: CertificateNames,
  keys: KeyPair,
  options: IssueOptions,
): CertifiedKey {
  const { dns, ip } = subjectAltNames(names);
  const [issuer] = readChain(authority.certificatePem);
  const certificatePem = signCertificate(
    {
      serialNumber: randomSerialNumber(options.random),
      subject: { organizationName: names.namespace, commonName: names.service },
      publicKeyPem: keys.publicKeyPem,
      ...leafValidity(options.now, options.duration, issuer),
      extensions: [
        { name: 'basicConstraints', critical: true, cA: false },
        { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
        { name: 'extKeyUsage', serverAuth: true },
        {
          name: 'subjectAltName',
          altNames: [...dns.map((value) => ({ type: 2, value })), ...ip.map((address) => ({ type: 7, ip: address }))],
        },
      ],
    },
    authority,
  );
  return { certificatePem, privateKeyPem: keys.privateKeyPem };
}
