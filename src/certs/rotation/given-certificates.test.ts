import assert from 'node:assert/strict';
import { pemOf } from '../read-certificate.ts';
import { checkGivenPair } from './given-certificates.ts';
import { foreignPair } from '../testdata/damages.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { SecretOwner } from '../testdata/secret-owner.ts';
import { names } from '../testdata/world.ts';
import type { ServingPair } from '../verify-chain.ts';

const now = Date.UTC(2026, 0, 1);
const expected = { now: new Date(now), names: ['sidecar-injector-a.injection.svc'] };

describe('checkGivenPair', () => {
  let pair: ServingPair;
  let unrelated: ServingPair;
  before(async () => {
    await keyPool();
    pair = await new SecretOwner(names).pair(now);
    unrelated = await foreignPair(now);
  });

  it('keeps only the authority that verifies the certificate', () => {
    const checked = checkGivenPair({ ...pair, caPem: unrelated.caPem + pair.caPem }, 'Secret x', expected);
    assert.ok('given' in checked);
    const { chain, authority, privateKeyPem, origin } = checked.given;
    assert.deepEqual({ certificatePem: pemOf(chain), privateKeyPem, caPem: authority.pem }, pair);
    assert.equal(origin, 'Secret x');
  });

  const table: [string, () => ServingPair, Partial<typeof expected>, string][] = [
    ['no certificate', () => ({ ...pair, certificatePem: 'x' }), {}, 'tls.crt Unreadable'],
    ['the key of another pair', () => ({ ...pair, privateKeyPem: unrelated.privateKeyPem }), {}, 'tls.key KeyMismatch'],
    ['no authority', () => ({ ...pair, caPem: '' }), {}, 'ca.crt Untrusted'],
    ['the authority of another pair', () => ({ ...pair, caPem: unrelated.caPem }), {}, 'ca.crt Untrusted'],
    ['too many authorities', () => ({ ...pair, caPem: pair.caPem.repeat(99) }), {}, 'ca.crt Unreadable'],
    ['a missing name', () => pair, { names: ['injector.example.com'] }, 'tls.crt NameMissing'],
    ['a time after notAfter', () => pair, { now: new Date(now + 901_000) }, 'tls.crt Expired'],
    ['a time before notBefore', () => pair, { now: new Date(now - 26 * 3_600_000) }, 'tls.crt NotYetValid'],
  ];
  for (const [what, pairOf, otherwise, fault] of table) {
    it(`reports the key and the fault for ${what}`, () => {
      const checked = checkGivenPair(pairOf(), 'Secret x', { ...expected, ...otherwise });
      const [first] = 'faults' in checked ? checked.faults : [];
      assert.equal(`${first?.key} ${first?.reason}`, fault);
      assert.doesNotMatch(first?.message ?? '', /PRIVATE|BEGIN/);
    });
  }
});
