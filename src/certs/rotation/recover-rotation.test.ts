import assert from 'node:assert/strict';
import { issueAuthority, issueServingCertificate } from '../issue-certificate.ts';
import { parseBundle, pemOf } from '../read-certificate.ts';
import { parsePair } from '../verify-chain.ts';
import { mostAdopted, recoverRotation, type ObservedCertificates, type RecoveredRotation } from './recover-rotation.ts';
import { keyPool, seededBytes } from '../testdata/key-pool.ts';
import { shortPolicy } from '../testdata/world.ts';

const now = new Date('2026-03-01T00:00:00Z');
const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);

const retiringOf = ({ retiring }: RecoveredRotation['state']): [string, Date][] =>
  retiring.map(({ chain, retireAfter }) => [pemOf(chain), retireAfter]);

describe('recoverRotation, if nothing is stored', () => {
  let authority: (seed: number, duration: number) => string;
  const recover = (bundles: string[], serving?: ObservedCertificates['serving']): RecoveredRotation =>
    recoverRotation(
      { stored: undefined, serving, bundles: bundles.map(parseBundle) },
      { policy: shortPolicy, jitter: 0, now },
    );

  before(async () => {
    const keys = await keyPool();
    authority = (seed, duration) =>
      issueAuthority('tests', keys[0]!, { now: later(-1000), duration, random: seededBytes(seed) }).certificatePem;
  });

  it('keeps each published authority once, until none of its leaves can be in use', () => {
    const [one, two] = [authority(1, 10_000_000), authority(2, 10_000_000)];
    const { state, current, expired, changes } = recover([one + two, two]);
    const retireAfter = later(shortPolicy.leafDuration);
    assert.deepEqual(retiringOf(state), [
      [one, retireAfter],
      [two, retireAfter],
    ]);
    assert.deepEqual([current, expired, state.authority, state.leaf], [undefined, false, undefined, undefined]);
    assert.equal(changes.length, 2);
  });

  it('keeps no authority after it has expired', () => {
    const [dead, dying] = [authority(1, 500), authority(2, 60_000)];
    const { state } = recover([dead + dying]);
    assert.deepEqual(retiringOf(state), [[dying, later(59_000)]]);
  });

  it('adopts a limited number of authorities from an oversized bundle', () => {
    const oversized = Array.from({ length: 90 }, (_, seed) => authority(seed, 10_000_000));
    assert.equal(recover([oversized.join('')]).state.retiring.length, mostAdopted);
  });

  it('adopts the authority of the leaf in use from any position of an oversized bundle, and then the latest authorities', async () => {
    const keys = (await keyPool())[0]!;
    const oversized = Array.from({ length: 90 }, (_, seed) => authority(seed, 10_000_000));
    for (const position of [0, 45, 89]) {
      const issuer = { certificatePem: oversized[position]!, privateKeyPem: keys.privateKeyPem };
      const options = { now: later(-1000), duration: 600_000, random: seededBytes(99) };
      const leaf = issueServingCertificate(issuer, { service: 'a', namespace: 'b' }, keys, options);
      const caPem = oversized.join('');
      const { state, current } = recover([caPem], parsePair({ ...leaf, caPem }));
      const kept = state.retiring.map(({ chain }) => oversized.indexOf(pemOf(chain)));
      assert.equal(kept.length, mostAdopted);
      assert.ok(kept.includes(position) && kept.includes(89) && kept.includes(40), kept.join());
      assert.equal(pemOf(current?.chain ?? []), leaf.certificatePem);
    }
  });
});
