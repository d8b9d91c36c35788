import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import forge from 'node-forge';
import { issueAuthority } from '../issue-certificate.ts';
import { generateRsaKeyPair } from '../key-pair.ts';

const hour = 3_600_000;

/** Creates a valid self-signed certificate with a P-256 key (RFC 5480) instead of an RSA key. */
export async function ellipticPair(organization: string, now = new Date()): Promise<{ certificate: string; key: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const model = issueAuthority(organization, await generateRsaKeyPair(2048), {
    now,
    duration: hour,
    random: randomBytes,
  });
  const { asn1, pem } = forge;
  const certificate = asn1.fromDer(forge.util.createBuffer(pem.decode(model.certificatePem)[0]?.body ?? ''));
  const [signed] = certificate.value as forge.asn1.Asn1[];
  if (signed === undefined) throw new Error('the certificate has no signed part');
  const sequence = (parts: forge.asn1.Asn1[]) => asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, parts);
  const value = (type: forge.asn1.Type, bytes: string) => asn1.create(asn1.Class.UNIVERSAL, type, false, bytes);
  // ecdsa-with-SHA256
  const algorithm = () => sequence([value(asn1.Type.OID, asn1.oidToDer('1.2.840.10045.4.3.2').getBytes())]);
  // RFC 5280 section 4.1: version, serial, signature, issuer, validity, subject, key, extensions.
  const fields = signed.value as forge.asn1.Asn1[];
  fields[2] = algorithm();
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('binary');
  fields[6] = asn1.fromDer(forge.util.createBuffer(spki));
  const signature = sign('sha256', Buffer.from(asn1.toDer(signed).getBytes(), 'binary'), privateKey);
  const bits = value(asn1.Type.BITSTRING, `\0${signature.toString('binary')}`);
  const body = asn1.toDer(sequence([signed, algorithm(), bits])).getBytes();
  return {
    certificate: pem.encode({ type: 'CERTIFICATE', body }).replaceAll('\r\n', '\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
