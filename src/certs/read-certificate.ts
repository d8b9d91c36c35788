import { X509Certificate } from 'node:crypto';

/** What the rest of the operator wants to know of a certificate. */
export type CertificateFacts = Readonly<ReturnType<typeof factsOf>>;

/** The latest stay parsed: a pass of the rotation reads the same few dozens of times, and OpenSSL needs 0.2 ms for each. */
const parsed = new Map<string, CertificateFacts>();
const mostParsed = 64;

/** Reads the first certificate of a PEM text. @throws when there is none or it is not an X.509 certificate. */
export function readCertificate(pem: string): CertificateFacts {
  const facts = parsed.get(pem) ?? factsOf(new X509Certificate(pem));
  parsed.delete(pem);
  parsed.set(pem, facts);
  const [oldest = pem] = parsed.keys();
  if (parsed.size > mostParsed) parsed.delete(oldest);
  return facts;
}

/** The first 8 hex digits of a certificate's fingerprint, for messages. */
export function shortName(pem: string): string {
  return readCertificate(pem).fingerprint.slice(0, 8);
}

function factsOf(x509: X509Certificate) {
  return {
    x509,
    /** SHA-256 of the DER, 64 lower-case hex digits. */
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    notBefore: new Date(x509.validFrom),
    notAfter: new Date(x509.validTo),
    /** The DNS names among the subject alternative names. */
    dnsNames: (x509.subjectAltName ?? '')
      .split(', ')
      .flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length)] : [])),
  };
}
