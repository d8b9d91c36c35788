import { randomBytes } from 'node:crypto';
import { issueAuthority, issueServingCertificate } from '../../../src/certs/issue-certificate.ts';
import { generateRsaKeyPair } from '../../../src/certs/key-pair.ts';

const hour = 3_600_000;

/** Creates a CA and a certificate for a Service, as another tool does. All texts are PEM. */
export async function foreignCertificates(service: string, namespace: string) {
  const options = { now: new Date(), random: randomBytes };
  const keys = await generateRsaKeyPair(2048);
  const authority = issueAuthority(service, keys, { ...options, duration: 24 * hour });
  const ownKeys = await generateRsaKeyPair(2048);
  const leaf = issueServingCertificate(authority, { service, namespace }, ownKeys, { ...options, duration: hour });
  return {
    authority: authority.certificatePem,
    authorityKey: keys.privateKeyPem,
    /** The data of the serving Secret. */
    serving: { 'tls.crt': leaf.certificatePem, 'tls.key': leaf.privateKeyPem, 'ca.crt': authority.certificatePem },
  };
}
