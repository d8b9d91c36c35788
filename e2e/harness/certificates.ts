import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateRsaKeyPair, type CertifiedKey, type KeyPair } from '../../src/certs/key-pair.ts';
import { randomSerialNumber } from '../../src/certs/random-source.ts';
import { signCertificate } from '../../src/certs/sign-certificate.ts';

export type ClientName = 'admin' | 'controller-manager' | 'scheduler' | 'kwok' | 'kubelet' | 'kube-proxy';

/** The name of the only real node. */
export const realNode = 'real-node';

/** The user (CN) and group (O) of each client. Kubernetes binds roles to the system users. */
const clients: Record<ClientName, { user: string; group: string }> = {
  admin: { user: 'kubernetes-admin', group: 'system:masters' },
  'controller-manager': { user: 'system:kube-controller-manager', group: 'e2e' },
  scheduler: { user: 'system:kube-scheduler', group: 'e2e' },
  kwok: { user: 'system:kwok', group: 'system:masters' },
  kubelet: { user: `system:node:${realNode}`, group: 'system:nodes' },
  'kube-proxy': { user: 'system:kube-proxy', group: 'e2e' },
};

/**
 * Creates a CA and all certificates of a control plane as PEM files, valid for a week.
 *
 * @param addresses the IP addresses of the API server
 */
export async function createClusterCertificates(directory: string, addresses: string[]) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const newKeys = () => generateRsaKeyPair(2048);
  const [authorityKeys, servingKeys, serviceAccountKeys] = await Promise.all([newKeys(), newKeys(), newKeys()]);
  const issue = (user: string, group: string, keys: KeyPair, extensions: object[], signer: CertifiedKey | KeyPair) =>
    signCertificate(
      {
        serialNumber: randomSerialNumber(randomBytes),
        subject: { organizationName: group, commonName: user },
        publicKeyPem: keys.publicKeyPem,
        notBefore: new Date(Date.now() - 3_600_000),
        notAfter: new Date(Date.now() + 7 * 86_400_000),
        extensions,
      },
      signer,
    );
  const write = (name: string, certificate: string, key: string) => {
    const files = { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
    writeFileSync(files.certificate, certificate);
    writeFileSync(files.key, key, { mode: 0o600 });
    return files;
  };
  const usage = { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true };
  const constraints = [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true, digitalSignature: true },
  ];
  const certificatePem = issue('embedded-control-plane', 'e2e', authorityKeys, constraints, authorityKeys);
  const authority = { certificatePem, privateKeyPem: authorityKeys.privateKeyPem };
  const uses = [
    usage,
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: servingNames(addresses) },
  ];
  const serving = issue('kube-apiserver', 'e2e', servingKeys, uses, authority);
  const client = async (name: ClientName) => {
    const { user, group } = clients[name];
    const keys = await newKeys();
    const certificate = issue(user, group, keys, [usage, { name: 'extKeyUsage', clientAuth: true }], authority);
    return write(name, certificate, keys.privateKeyPem);
  };
  const names = Object.keys(clients) as ClientName[];
  const clientFiles = await Promise.all(names.map(async (name) => [name, await client(name)] as const));
  return {
    authority: write('ca', certificatePem, authority.privateKeyPem),
    /** The serving certificate of every component that serves HTTPS on 127.0.0.1. */
    serving: write('serving', serving, servingKeys.privateKeyPem),
    clients: Object.fromEntries(clientFiles) as Record<ClientName, ReturnType<typeof write>>,
    serviceAccountKey: write('service-account', serviceAccountKeys.publicKeyPem, serviceAccountKeys.privateKeyPem),
  };
}

function servingNames(addresses: string[]): object[] {
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  return [...names.map((value) => ({ type: 2, value })), ...addresses.map((ip) => ({ type: 7, ip }))];
}
