import assert from 'node:assert/strict';
import { issueAuthority } from './issue-certificate.ts';
import { bundleFingerprints, joinBundle, parseBundle, readChain } from './read-certificate.ts';
import { keyPool, seededBytes } from './testdata/key-pool.ts';

describe('bundles', () => {
  let one: string;
  let two: string;

  before(async () => {
    const keys = await keyPool();
    const options = { now: new Date('2026-03-01T00:00:00Z'), duration: 86_400_000 };
    one = issueAuthority('one', keys[0]!, { ...options, random: seededBytes(1) }).certificatePem;
    two = issueAuthority('two', keys[1]!, { ...options, random: seededBytes(2) }).certificatePem;
  });

  it('contain each certificate once, in order, on separate lines', () => {
    assert.equal(joinBundle([one.trimEnd(), two, one]), one + two);
    assert.equal(joinBundle([]), '');
  });

  it('are read when PEM blocks lack a newline between them, use CRLF, or have text around them', () => {
    const text = `subject=CN one\r\n${one.replaceAll('\n', '\r\n').trimEnd()}${two.trimEnd()} and more`;
    const found = parseBundle(text).map(({ pem }) => pem);
    assert.deepEqual(found, [one, two]);
  });

  it('are read without the damaged certificates', () => {
    const damaged = two.replace(/\n.{20}/, '\n????????????????????');
    assert.deepEqual([...bundleFingerprints(damaged + one)], [readChain(one)[0].fingerprint]);
    for (const text of ['', 'garbage', one.slice(0, 100), one.replaceAll('CERTIFICATE', 'PUBLIC KEY')]) {
      assert.deepEqual(parseBundle(text), []);
    }
  });

  it('identify each certificate by the SHA-256 of its DER encoding', () => {
    assert.match([...bundleFingerprints(one)].join(), /^[0-9a-f]{64}$/);
    assert.notDeepEqual(bundleFingerprints(one), bundleFingerprints(two));
  });
});
