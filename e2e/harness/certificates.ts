import { generateKeyPair, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import forge from 'node-forge';

const generate = promisify(generateKeyPair);

export type ClientName = 'admin' | 'controller-manager' | 'scheduler' | 'kwok';

/** The user (CN) and group (O) of each client. Kubernetes binds roles to the system users. */
const clients: Record<ClientName, { user: string; group?: string }> = {
  admin: { user: 'kubernetes-admin', group: 'system:masters' },
  'controller-manager': { user: 'system:kube-controller-manager' },
  scheduler: { user: 'system:kube-scheduler' },
  kwok: { user: 'system:kwok', group: 'system:masters' },
};

/** Creates a CA and all certificates of a control plane as PEM files, valid for a week. */
export async function createClusterCertificates(directory: string) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const [authorityKeys, servingKeys, serviceAccountKeys] = await Promise.all([newKeys(), newKeys(), newKeys()]);
  const issuer = [{ name: 'commonName', value: 'embedded-control-plane' }];
  const issue = (subject: forge.pki.CertificateField[], keys: Keys, extensions: object[]): string => {
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = forge.pki.publicKeyFromPem(keys.publicKey);
    // The first byte 0x4_ keeps the serial number positive (RFC 5280, 4.1.2.2), as Go requires.
    certificate.serialNumber = `4${randomBytes(16).toString('hex').slice(1)}`;
    certificate.validity.notBefore = new Date(Date.now() - 3_600_000);
    certificate.validity.notAfter = new Date(Date.now() + 7 * 86_400_000);
    certificate.setSubject(subject);
    certificate.setIssuer(issuer);
    certificate.setExtensions(extensions);
    certificate.sign(forge.pki.privateKeyFromPem(authorityKeys.privateKey), forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
  };
  const write = (name: string, certificate: string, key: string) => {
    const files = { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
    writeFileSync(files.certificate, certificate);
    writeFileSync(files.key, key, { mode: 0o600 });
    return files;
  };
  const usage = { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true };
  const authority = issue(issuer, authorityKeys, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true, digitalSignature: true },
  ]);
  const serving = issue([{ name: 'commonName', value: 'kube-apiserver' }], servingKeys, [
    usage,
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: servingNames() },
  ]);
  const client = async (name: ClientName) => {
    const { user, group } = clients[name];
    const organization = group === undefined ? [] : [{ name: 'organizationName', value: group }];
    const keys = await newKeys();
    const subject = [{ name: 'commonName', value: user }, ...organization];
    return write(name, issue(subject, keys, [usage, { name: 'extKeyUsage', clientAuth: true }]), keys.privateKey);
  };
  const names = Object.keys(clients) as ClientName[];
  const clientFiles = await Promise.all(names.map(async (name) => [name, await client(name)] as const));
  return {
    authority: write('ca', authority, authorityKeys.privateKey),
    /** The serving certificate of every component that serves HTTPS on 127.0.0.1. */
    serving: write('serving', serving, servingKeys.privateKey),
    clients: Object.fromEntries(clientFiles) as Record<ClientName, ReturnType<typeof write>>,
    serviceAccountKey: write('service-account', serviceAccountKeys.publicKey, serviceAccountKeys.privateKey),
  };
}

function servingNames(): object[] {
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  return [...names.map((value) => ({ type: 2, value })), ...['127.0.0.1', '10.96.0.1'].map((ip) => ({ type: 7, ip }))];
}

type Keys = Awaited<ReturnType<typeof newKeys>>;

function newKeys() {
  return generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    // forge reads private keys in PKCS#1.
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
}
