import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { randomSerialNumber } from '../../certs/random-source.ts';
import { signCertificate } from '../../certs/sign-certificate.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';
import { isUnrelated } from './replica.ts';

const now = new Date('2026-03-01T00:00:00Z');
const hour = 3_600_000;

describe('isUnrelated', () => {
  let old: ServingPair;
  let other: ServingPair;
  /** Of an intermediate whose root is the authority. */
  let chained: ServingPair;
  before(async () => {
    const keys = await generateRsaKeyPair(2048);
    const issue = (): ServingPair => {
      const authority = issueAuthority('blue', keys, { now, duration: 24 * hour, random: randomBytes });
      const names = { service: 'blue', namespace: 'injection' };
      const leaf = issueServingCertificate(authority, names, keys, { now, duration: hour, random: randomBytes });
      return { ...leaf, caPem: authority.certificatePem };
    };
    [old, other] = [issue(), issue()];
    const validity = { notBefore: new Date(now.getTime() - hour), notAfter: new Date(now.getTime() + 24 * hour) };
    const authorityNamed = (commonName: string, signer: Parameters<typeof signCertificate>[1]): string =>
      signCertificate(
        {
          serialNumber: randomSerialNumber(randomBytes),
          subject: { organizationName: 'company', commonName },
          publicKeyPem: keys.publicKeyPem,
          ...validity,
          extensions: [{ name: 'basicConstraints', critical: true, cA: true }],
        },
        signer,
      );
    const root = authorityNamed('root', keys);
    const intermediate = {
      certificatePem: authorityNamed('intermediate', { certificatePem: root, privateKeyPem: keys.privateKeyPem }),
      privateKeyPem: keys.privateKeyPem,
    };
    const names = { service: 'blue', namespace: 'injection' };
    const leaf = issueServingCertificate(intermediate, names, keys, { now, duration: hour, random: randomBytes });
    chained = { ...leaf, certificatePem: leaf.certificatePem + intermediate.certificatePem, caPem: root };
  });

  const early = new Date(now.getTime() - 48 * hour);
  const cases: [string, () => [ServingPair, ServingPair | undefined, Date], boolean][] = [
    ['the first pair', () => [old, undefined, now], false],
    [
      'a pair whose bundle verifies the one in memory',
      () => [{ ...other, caPem: other.caPem + old.caPem }, old, now],
      false,
    ],
    ['a pair of other authorities', () => [other, old, now], true],
    ['a pair whose bundle verifies the one in memory by its intermediate', () => [chained, chained, now], false],
    ['a pair of other authorities than the chain in memory', () => [other, chained, now], true],
    ['the same once the one in memory has expired', () => [other, old, new Date(now.getTime() + hour)], false],
    ['a pair of other authorities, by a clock that is behind', () => [other, old, early], true],
    ['the pair in memory, by a clock that is behind', () => [old, old, early], false],
  ];
  for (const [title, given, expected] of cases) {
    it(`${title}: ${expected ? 'yes' : 'no'}`, () => {
      assert.equal(isUnrelated(...given()), expected);
    });
  }
});
