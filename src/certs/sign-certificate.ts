import { sign } from 'node:crypto';
import forge from 'node-forge';
import type { CertifiedKey, KeyPair } from './key-pair.ts';

/** The validity of a new certificate. X.509 times have whole seconds; both ends are rounded down. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * How far an authority's notBefore lies in the past. An API server whose clock is behind refuses certificates "from the future": an hour of
 * skew is common, and a day more lets the operator's own clock jump ahead by a day without harm. A leaf begins with its authority.
 */
const backdating = 25 * 60 * 60 * 1000;

/** The validity of an authority that lives for `duration` milliseconds from `now`. */
export function authorityValidity(now: Date, duration: number): Validity {
  return { notBefore: wholeSeconds(now.getTime() - backdating), notAfter: wholeSeconds(now.getTime() + duration) };
}

/** The validity of a leaf that lives for `duration` milliseconds from `now`, within its authority's. */
export function leafValidity(now: Date, duration: number, authority: Validity): Validity {
  const end = Math.min(now.getTime() + duration, authority.notAfter.getTime());
  return { notBefore: authority.notBefore, notAfter: wholeSeconds(end) };
}

function wholeSeconds(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}

/** Everything that is signed, except extensions that follow from the keys. */
interface CertificateRequest extends Validity {
  readonly serialNumber: string;
  /** A distinguished name in the order in which it is encoded; at most 64 characters each (RFC 5280, upper bounds). */
  readonly subject: { readonly organizationName: string; readonly commonName: string };
  readonly publicKeyPem: string;
  /** Extensions in node-forge's notation, without the two key identifiers. */
  readonly extensions: readonly object[];
}

/**
 * Encodes and signs an X.509 v3 certificate with SHA-256 and RSA.
 * node-forge writes the structure; node:crypto signs, since forge's own RSA blocks the event loop for 70–200 ms.
 * @param signer an authority; for a self-signed certificate the key alone.
 * @returns PEM with LF line ends and a final newline.
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
    // forge writes its encoding into these objects and would use it again for the next certificate.
    ...request.extensions.map((extension) => ({ ...extension })),
    { name: 'subjectKeyIdentifier' },
    // forge's `keyIdentifier: true` would name the certificate's own key instead of the issuer's.
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
