import type { KeyPair } from './key-pair.ts';
import { randomSerialNumber, type RandomBytes } from './random-source.ts';
import { authorityValidity, signCertificate } from './sign-certificate.ts';

/** A certificate authority that can sign. */
export interface Authority {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/**
 * Issues a self-signed authority. Each has a subject of its own, so that chains stay unambiguous while a bundle holds several.
 * @param organization shown in the subject, at most 64 characters; `duration` is in milliseconds
 */
export function issueAuthority(
  organization: string,
  keys: KeyPair,
  options: { readonly now: Date; readonly duration: number; readonly random: RandomBytes },
): Authority {
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
