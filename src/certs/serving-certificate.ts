import type { Authority } from './authority.ts';
import { subjectAltNames, type CertificateNames } from './certificate-names.ts';
import type { KeyPair } from './key-pair.ts';
import { randomSerialNumber, type RandomBytes } from './random-source.ts';
import { readCertificate } from './read-certificate.ts';
import { leafValidity, signCertificate } from './sign-certificate.ts';

/** A serving certificate with its private key, both PEM. */
export interface Leaf {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Issues a serving certificate for so many milliseconds, within its authority's life. @throws CertificatePolicyError for a bad name */
export function issueServingCertificate(
  authority: Authority,
  names: CertificateNames,
  keys: KeyPair,
  options: { readonly now: Date; readonly duration: number; readonly random: RandomBytes },
): Leaf {
  const { dns, ip } = subjectAltNames(names);
  const certificatePem = signCertificate(
    {
      serialNumber: randomSerialNumber(options.random),
      subject: { organizationName: names.namespace, commonName: names.service },
      publicKeyPem: keys.publicKeyPem,
      ...leafValidity(options.now, options.duration, readCertificate(authority.certificatePem)),
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
