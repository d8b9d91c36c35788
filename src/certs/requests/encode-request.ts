import { createHash, createPublicKey, sign } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';

/** A PrintableString that Go accepts, of at most 64 characters (RFC 5280, ub-common-name). */
const commonNamePattern = /^[a-zA-Z0-9.:-]{1,64}$/;

/**
 * Encodes a PKCS #10 request (RFC 2986) in PEM for a serving certificate, signed with SHA-256 and
 * the RSA key. The first name becomes the common name if it fits. Sets no organization, because a
 * signer could treat an organization as a group (`system:nodes`).
 */
export function encodeCertificateRequest(privateKeyPem: string, names: readonly string[]): string {
  const request = forge.pki.createCertificationRequest();
  request.publicKey = forge.pki.publicKeyFromPem(publicKeyOf(privateKeyPem));
  const [commonName = ''] = names;
  if (commonNamePattern.test(commonName)) request.setSubject([{ name: 'commonName', value: commonName }]);
  const altNames = names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name }));
  const extensions = [{ name: 'subjectAltName', altNames }];
  request.setAttributes([{ name: 'extensionRequest', extensions }]);
  const key: forge.pki.rsa.PrivateKey = {
    ...forge.pki.privateKeyFromPem(privateKeyPem),
    // node-forge's own RSA would block the event loop, as in sign-certificate.ts.
    sign: () => {
      const info = (request as unknown as { certificationRequestInfo: forge.asn1.Asn1 }).certificationRequestInfo;
      return sign('sha256', Buffer.from(forge.asn1.toDer(info).getBytes(), 'binary'), privateKeyPem).toString('binary');
    },
  };
  request.sign(key, forge.md.sha256.create());
  return forge.pki.certificationRequestToPem(request).replaceAll('\r\n', '\n');
}

/** Returns 12 hex digits of the public key's hash. Every leader names a key's request the same. */
export function keyDigest(privateKeyPem: string): string {
  return createHash('sha256').update(publicKeyOf(privateKeyPem)).digest('hex').slice(0, 12);
}

function publicKeyOf(privateKeyPem: string): string {
  return createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }) as string;
}
