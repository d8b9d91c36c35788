import { randomBytes } from 'node:crypto';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { generateRsaKeyPair, type KeyPair, type CertifiedKey } from '../../certs/key-pair.ts';

const hour = 3_600_000;

/** An authority that issues leaf certificates. The whole test run uses only two key pairs. */
export interface TestAuthority {
  readonly caPem: string;
  issue(service: string): CertifiedKey;
}

let keys: Promise<readonly [KeyPair, KeyPair]> | undefined;

export async function testAuthority(): Promise<TestAuthority> {
  keys ??= Promise.all([generateRsaKeyPair(2048), generateRsaKeyPair(2048)]);
  const [caKeys, leafKeys] = await keys;
  const options = { now: new Date(), duration: hour, random: randomBytes };
  const authority: CertifiedKey = issueAuthority('test', caKeys, { ...options, duration: 2 * hour });
  return {
    caPem: authority.certificatePem,
    issue: (service) => issueServingCertificate(authority, { service, namespace: 'test' }, leafKeys, options),
  };
}

/** Serving pairs that a test can replace. */
export class TestPairs {
  readonly byName = new Map<string, CertifiedKey>();
  fallback: CertifiedKey | undefined;

  forServerName = (serverName: string) => this.byName.get(serverName);
  defaultPair = () => this.fallback;
  expiries = () => [...this.byName.keys()].map((name) => [name, new Date(1_900_000_000_000)] as const);
}
