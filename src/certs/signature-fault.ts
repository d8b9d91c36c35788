import type { X509Certificate } from 'node:crypto';
import forge from 'node-forge';

/** Signature algorithms that Go's crypto/x509 no longer verifies: md2, md5 and sha1 with RSA; sha1 with DSA and ECDSA. */
const refusedAlgorithms: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.2': 'MD2-RSA',
  '1.2.840.113549.1.1.4': 'MD5-RSA',
  '1.2.840.113549.1.1.5': 'SHA1-RSA',
  '1.2.840.10040.4.3': 'DSA-SHA1',
  '1.2.840.10045.4.1': 'ECDSA-SHA1',
};

/** What OpenSSL accepts and Go refuses in a certificate: old signature algorithms, a negative serial number, an RSA key under 1024 bits. */
export function signatureFault(certificate: X509Certificate): string | undefined {
  const algorithm = signatureAlgorithm(certificate);
  const refused = refusedAlgorithms[algorithm];
  if (refused !== undefined) {
    return `the signature algorithm ${refused} is not accepted by the API server`;
  }
  if (certificate.serialNumber.startsWith('-')) {
    return 'the serial number is negative, which the API server does not accept';
  }
  const bits = certificate.publicKey.asymmetricKeyDetails?.modulusLength;
  return bits !== undefined && bits < 1024 ? `an RSA key of ${bits} bits is not accepted by the API server` : undefined;
}

/** The object identifier of the signature: Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signatureValue } (RFC 5280 section 4.1). */
function signatureAlgorithm(certificate: X509Certificate): string {
  const [, algorithm] = children(forge.asn1.fromDer(certificate.raw.toString('binary')));
  const [identifier] = algorithm === undefined ? [] : children(algorithm);
  return identifier === undefined || typeof identifier.value !== 'string'
    ? ''
    : forge.asn1.derToOid(forge.util.createBuffer(identifier.value));
}

function children(structure: forge.asn1.Asn1): readonly forge.asn1.Asn1[] {
  return typeof structure.value === 'string' ? [] : structure.value;
}
