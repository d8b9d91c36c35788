import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { issueServingCertificate } from '../../src/certs/issue-certificate.ts';
import { generateRsaKeyPair } from '../../src/certs/key-pair.ts';
import { randomSerialNumber } from '../../src/certs/random-source.ts';
import { signCertificate } from '../../src/certs/sign-certificate.ts';

const day = 86_400_000;

/** The three PEM texts of a Secret with a certificate, by key. */
export type PairText = Record<'tls.crt' | 'tls.key' | 'ca.crt', string>;

export type CompanyAuthority = Awaited<ReturnType<typeof companyAuthority>>;

/** Creates a company's CA: a root that signs certificates directly or via an intermediate CA. */
export async function companyAuthority(name: string, hasIntermediate = true) {
  const rootKeys = await generateRsaKeyPair(2048);
  const root = authorityCertificate(`${name} root`, rootKeys.publicKeyPem, rootKeys, 1);
  const signer = { certificatePem: root, privateKeyPem: rootKeys.privateKeyPem };
  const { publicKeyPem, privateKeyPem } = hasIntermediate ? await generateRsaKeyPair(2048) : rootKeys;
  const certificatePem = hasIntermediate ? authorityCertificate(`${name} intermediate`, publicKeyPem, signer, 0) : root;
  /** Issues a certificate for a Service, valid for a day. The text includes the intermediate. */
  const issue = async (target: { service: string; namespace: string }, now = new Date()): Promise<PairText> => {
    const options = { now, duration: day, random: randomBytes };
    const keys = await generateRsaKeyPair(2048);
    const leaf = issueServingCertificate({ certificatePem, privateKeyPem }, target, keys, options);
    return { 'tls.crt': leaf.certificatePem + certificatePem, 'tls.key': leaf.privateKeyPem, 'ca.crt': root };
  };
  /** Signs a public key and names, as a signer does. The text includes the intermediate. */
  const sign = (publicKeyPem: string, subject: string, names: readonly string[], life: number): string => {
    const now = Date.now();
    const altNames = names.map((value) => (isIP(value) === 0 ? { type: 2, value } : { type: 7, ip: value }));
    const leaf = signCertificate(
      {
        serialNumber: randomSerialNumber(randomBytes),
        subject: { organizationName: 'e2e', commonName: subject.slice(0, 64) },
        publicKeyPem,
        notBefore: new Date(now - 60_000),
        notAfter: new Date(now + life),
        extensions: [
          { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames },
        ],
      },
      { certificatePem, privateKeyPem },
    );
    return leaf + certificatePem;
  };
  return { root, issue, sign };
}

/** @param below the path length: how many more CAs may be between this CA and a certificate */
function authorityCertificate(
  commonName: string,
  publicKeyPem: string,
  signer: Parameters<typeof signCertificate>[1],
  below: number,
): string {
  return signCertificate(
    {
      serialNumber: randomSerialNumber(randomBytes),
      subject: { organizationName: 'e2e', commonName },
      publicKeyPem,
      // Start early enough for certificates that have already expired.
      notBefore: new Date(Date.now() - 10 * day),
      notAfter: new Date(Date.now() + 10 * day),
      extensions: [
        { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: below },
        { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
      ],
    },
    signer,
  );
}
