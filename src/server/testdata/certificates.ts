import { randomBytes } from 'node:crypto';
import { issueAuthority, type Authority } from '../../certs/authority.ts';
import { generateRsaKeyPair, type KeyPair } from '../../certs/key-pair.ts';
import { issueServingCertificate } from '../../certs/serving-certificate.ts';
import type { ServingPair } from '../http/serving-pairs.ts';

const hour = 3_600_000;

/** An authority and leaves of it, on two keys that are made once per test run. */
export interface TestAuthority {
  readonly caPem: string;
  issue(service: string): ServingPair;
}

let keys: Promise<readonly [KeyPair, KeyPair]> | undefined;

export async function testAuthority(): Promise<TestAuthority> {
  keys ??= Promise.all([generateRsaKeyPair(2048), generateRsaKeyPair(2048)]);
  const [caKeys, leafKeys] = await keys;
  const options = { now: new Date(), duration: hour, random: randomBytes };
  const authority: Authority = issueAuthority('test', caKeys, { ...options, duration: 2 * hour });
  return {
    caPem: authority.certificatePem,
    issue: (service) => issueServingCertificate(authority, { service, namespace: 'test' }, leafKeys, options),
  };
}

/** Pairs that a test swaps. */
export class TestPairs {
  readonly byName = new Map<string, ServingPair>();
  fallback: ServingPair | undefined;

  forServerName = (serverName: string) => this.byName.get(serverName);
  defaultPair = () => this.fallback;
  expiries = () => [...this.byName.keys()].map((name) => [name, new Date(1_900_000_000_000)] as const);
}
