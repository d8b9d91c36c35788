import assert from 'node:assert/strict';
import { issueAuthority, issueServingCertificate } from './issue-certificate.ts';
import { ServingCertificates } from './serving-certificates.ts';
import { keyPool, seededBytes } from './testdata/key-pool.ts';
import { signCertificate } from './sign-certificate.ts';
import type { ServingPair } from './verify-chain.ts';

const now = new Date('2026-03-01T00:00:00Z');
const hour = 3_600_000;

describe('ServingCertificates', () => {
  let pairOf: (service: string, seed?: number) => ServingPair;

  before(async () => {
    const keys = await keyPool();
    pairOf = (service, seed = 1) => {
      const random = seededBytes(seed);
      const authority = issueAuthority(service, keys[seed % 8]!, { now, duration: 24 * hour, random });
      const names = { service, namespace: 'system' };
      const leaf = issueServingCertificate(authority, names, keys[(seed + 1) % 8]!, { now, duration: hour, random });
      return { ...leaf, caPem: authority.certificatePem };
    };
  });

  it('finds a certificate by server name in any case, and returns a default for unknown names', () => {
    const certificates = new ServingCertificates();
    assert.equal(certificates.defaultPair(), undefined);
    assert.equal(certificates.forServerName('a.system.svc'), undefined);
    assert.deepEqual(certificates.offer('a', pairOf('a'), now), []);
    assert.deepEqual(certificates.offer('b', pairOf('b', 2), now), []);
    assert.equal(certificates.forServerName('B.System.svc')?.owner, 'b');
    assert.equal(certificates.forServerName('c.system.svc'), undefined);
    assert.equal(certificates.defaultPair()?.owner, 'a');
  });

  it('matches a wildcard to one label, and prefers an exact name', async () => {
    const keys = await keyPool();
    const wildcard = (name: string): ServingPair => {
      const certificatePem = signCertificate(
        {
          serialNumber: '41',
          subject: { organizationName: 'tests', commonName: 'wildcard' },
          publicKeyPem: keys[0]!.publicKeyPem,
          notBefore: now,
          notAfter: new Date(now.getTime() + hour),
          extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
        },
        keys[0]!,
      );
      return { certificatePem, privateKeyPem: keys[0]!.privateKeyPem, caPem: certificatePem };
    };
    const certificates = new ServingCertificates();
    assert.deepEqual(certificates.offer('all', wildcard('*.system.svc'), now), []);
    certificates.offer('a', pairOf('a'), now);
    const owners = ['a.system.svc', 'B.system.svc', 'x.b.system.svc', 'system.svc'].map(
      (name) => certificates.forServerName(name)?.owner,
    );
    assert.deepEqual(owners, ['a', 'all', undefined, undefined]);
  });

  it('returns the same object until the pair changes', () => {
    const certificates = new ServingCertificates();
    certificates.offer('a', pairOf('a'), now);
    const served = certificates.forServerName('a.system.svc');
    certificates.offer('a', pairOf('a'), now);
    assert.equal(certificates.forServerName('a.system.svc'), served);
    certificates.offer('a', pairOf('a', 3), now);
    assert.notEqual(certificates.forServerName('a.system.svc'), served);
  });

  it('rejects an invalid pair, and keeps the last valid pair', () => {
    const certificates = new ServingCertificates();
    const good = pairOf('a');
    certificates.offer('a', good, now);
    const bad: [string, Partial<ServingPair>][] = [
      ['Unreadable', { certificatePem: 'garbage' }],
      ['KeyMismatch', { privateKeyPem: pairOf('a', 2).privateKeyPem }],
      ['Untrusted', { caPem: pairOf('a', 2).caPem }],
    ];
    const refusal = (pair: ServingPair, at: Date): string[] =>
      certificates.offer('a', pair, at).map(({ reason }) => reason);
    for (const [reason, change] of bad) assert.deepEqual(refusal({ ...good, ...change }, now), [reason]);
    assert.deepEqual(refusal(pairOf('a', 2), new Date(now.getTime() + 2 * hour)), ['Expired']);
    assert.equal(certificates.defaultPair()?.certificatePem, good.certificatePem);
  });

  it('accepts a pair that is not valid yet, since the clock may be slow', () => {
    const certificates = new ServingCertificates();
    const slow = new Date(now.getTime() - 26 * hour);
    assert.deepEqual(certificates.offer('a', pairOf('a'), slow), []);
    assert.equal(certificates.all().length, 1);
  });

  it('reports when each certificate expires, and changes the default when its owner is removed', () => {
    const certificates = new ServingCertificates();
    certificates.offer('a', pairOf('a'), now);
    certificates.offer('b', pairOf('b', 2), now);
    const end = new Date(now.getTime() + hour);
    assert.deepEqual(certificates.expiries(), [
      ['a.system.svc', end],
      ['b.system.svc', end],
    ]);
    certificates.remove('a');
    assert.equal(certificates.defaultPair()?.owner, 'b');
    assert.equal(certificates.forServerName('a.system.svc'), undefined);
  });
});
