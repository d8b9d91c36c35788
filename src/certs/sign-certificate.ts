import { sign } from 'node:crypto';
import forge from 'node-forge';
import type { CertifiedKey, KeyPair } from './key-pair.ts';

/** The validity of a certificate. X.509 times have whole seconds; both ends are rounded down. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * How far notBefore lies in the past, in milliseconds. An API server with a slow clock refuses
 * certificates "from the future": an hour covers common skew, and another day covers a jump of the
 * operator's own clock. A leaf has the notBefore of its authority.
 */
const backdating = 25 * 60 * 60 * 1000;

/** Returns the validity of an authority that lives for `duration` milliseconds from `now`. */
export function authorityValidity(now: Date, duration: number): Validity {
  return { notBefore: wholeSeconds(now.getTime() - backdating), notAfter: wholeSeconds(now.getTime() + duration) };
}

/** Returns the validity of a leaf: `duration` milliseconds, but not beyond its authority. */
export function leafValidity(now: Date, duration: number, authority: Validity): Validity {
  const end = Math.min(now.getTime() + duration, authority.notAfter.getTime());
  return { notBefore: authority.notBefore, notAfter: wholeSeconds(end) };
}

function wholeSeconds(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}

/** The content to sign, without the extensions that derive from the keys. */
interface CertificateRequest extends Validity {
  readonly serialNumber: string;
  /** The distinguished name in encoding order; at most 64 characters per name (RFC 5280). */
  readonly subject: { readonly organizationName: string; readonly commonName: string };
  readonly publicKeyPem: string;
  /** Extensions in node-forge's notation, without the two key identifiers. */
  readonly extensions: readonly object[];
}

/**
 * Encodes and signs an X.509 v3 certificate with SHA-256 and RSA. node-forge writes the structure;
 * node:crypto signs, because forge's own RSA blocks the event loop for 70–200 ms. @returns PEM with
 * LF line ends and a final newline
 * @param signer an authority, or only a private key to make a self-signed certificate
 */
export function signCertificate(
  request: CertificateRequest,
  signer: CertifiedKey | Pick<KeyPair, 'privateKeyPem'>,
): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(request.publicKeyPem);
  certificate.serialNumber = request.serialNumber;
  certificate.validity.notBefore = request.notBefore;
  certificate.validity.notAfter = request.notAfter;
  const subject = Object.entries(request.subject).map(([name, value]: [string, string]) => ({ name, value }));
  certificate.setSubject(subject);
  const issuer = 'certificatePem' in signer ? forge.pki.certificateFromPem(signer.certificatePem) : undefined;
  certificate.setIssuer(issuer?.subject.attributes ?? subject);
  certificate.setExtensions([
    // forge writes its encoding into these objects and would reuse it for the next certificate.
    ...request.extensions.map((extension) => ({ ...extension })),
    { name: 'subjectKeyIdentifier' },
    // With `keyIdentifier: true` forge would name the certificate's own key, not the issuer's.
    {
      name: 'authorityKeyIdentifier',
      keyIdentifier: (issuer ?? certificate).generateSubjectKeyIdentifier().getBytes(),
    },
  ]);
  const key: forge.pki.rsa.PrivateKey = {
    ...forge.pki.privateKeyFromPem(signer.privateKeyPem),
    sign: () => {
      const der = Buffer.from(forge.asn1.toDer(certificate.tbsCertificate).getBytes(), 'binary');
      return sign('sha256', der, signer.privateKeyPem).toString('binary');
    },
  };
  certificate.sign(key, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}
