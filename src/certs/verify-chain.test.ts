import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';
import { issueAuthority, issueServingCertificate } from './issue-certificate.ts';
import type { KeyPair } from './key-pair.ts';
import { readChain } from './read-certificate.ts';
import { signCertificate } from './sign-certificate.ts';
import { keyPool, seededBytes } from './testdata/key-pool.ts';
import { isIssuedBy, parsePair, verifyServingPair, type ServingPair } from './verify-chain.ts';

const now = new Date('2026-03-01T00:00:00Z');
const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
const hour = 3_600_000;
const names = { service: 'injector', namespace: 'system' };
const random = seededBytes(5);

/** Signs a certificate with the given extensions. */
function custom(
  keys: KeyPair,
  signer: Parameters<typeof signCertificate>[1],
  extensions: object[],
  commonName = 'custom',
): string {
  const subject = { organizationName: 'tests', commonName };
  const validity = { notBefore: later(-hour), notAfter: later(hour) };
  const { publicKeyPem } = keys;
  return signCertificate({ serialNumber: '41', subject, publicKeyPem, ...validity, extensions }, signer);
}

/** Returns a self-signed pair. */
function selfSigned(keys: KeyPair, extensions: object[], commonName?: string): ServingPair {
  const certificatePem = custom(keys, keys, extensions, commonName);
  return { certificatePem, privateKeyPem: keys.privateKeyPem, caPem: certificatePem };
}

const rootOf = (keys: KeyPair): ServingPair => selfSigned(keys, [caExtension], 'root');

const san = { name: 'subjectAltName', altNames: [{ type: 2, value: 'injector.system.svc' }] };
const caExtension = { name: 'basicConstraints', critical: true, cA: true };

describe('verifyServingPair', () => {
  let keys: KeyPair[];
  let pair: ServingPair;
  let other: ServingPair;
  const reasons = (tested: ServingPair, expected: { now?: Date; names?: string[] } = {}): string[] =>
    verifyServingPair(parsePair(tested), { now, ...expected }).map(({ reason }) => reason);

  before(async () => {
    keys = await keyPool();
    const make = (ca: KeyPair, leaf: KeyPair): ServingPair => {
      const authority = issueAuthority('tests', ca, { now, duration: 24 * hour, random });
      const served = issueServingCertificate(authority, names, leaf, { now, duration: hour, random });
      return { ...served, caPem: authority.certificatePem };
    };
    pair = make(keys[0]!, keys[1]!);
    other = make(keys[2]!, keys[3]!);
  });

  it('terminates with many intermediates that name each other as issuers', () => {
    const distinct = Array.from({ length: 20 }, (_, index) =>
      custom(keys[4]!, keys[4]!, [caExtension, { name: 'nsComment', comment: String(index) }], 'many'),
    );
    const leaf = custom(keys[1]!, { certificatePem: distinct[0]!, privateKeyPem: keys[4]!.privateKeyPem }, [san]);
    const served = { certificatePem: leaf + distinct.join(''), privateKeyPem: keys[1]!.privateKeyPem };
    assert.deepEqual(reasons({ ...served, caPem: other.caPem }), ['Untrusted']);
    assert.deepEqual(reasons({ ...served, caPem: distinct.at(-1)! }), []);
  });

  it('finds no fault in a valid pair, even if the bundle has other authorities', () => {
    assert.deepEqual(reasons(pair, { names: ['injector.system.svc', 'INJECTOR.system.svc'] }), []);
    assert.deepEqual(reasons({ ...pair, caPem: other.caPem + pair.caPem }), []);
  });

  it('finds each fault', () => {
    const table: [string[], Partial<ServingPair>, { now?: Date; names?: string[] }?][] = [
      [['Unreadable'], { certificatePem: '' }],
      [['Unreadable'], { certificatePem: pair.privateKeyPem }],
      [['KeyMismatch'], { privateKeyPem: other.privateKeyPem }],
      [['KeyMismatch'], { privateKeyPem: 'garbage' }],
      [['Untrusted'], { caPem: other.caPem }],
      [['Untrusted'], { caPem: '' }],
      [['Untrusted'], { caPem: 'garbage' }],
      [['NotYetValid', 'Untrusted'], {}, { now: later(-26 * hour) }],
      [['Expired'], {}, { now: later(hour) }],
      [['Expired', 'Untrusted'], {}, { now: later(24 * hour) }],
      [['NameMissing', 'NameMissing'], {}, { names: ['injector', 'injector.system.svc', '10.0.0.1'] }],
      [['KeyMismatch', 'Untrusted'], { privateKeyPem: other.privateKeyPem, caPem: other.caPem }],
    ];
    for (const [expected, change, options] of table) {
      assert.deepEqual(reasons({ ...pair, ...change }, options), expected);
    }
  });

  it('ignores the common name', () => {
    const tested = selfSigned(keys[1]!, [], 'injector.system.svc');
    assert.deepEqual(reasons(tested, { names: ['injector.system.svc'] }), ['NameMissing']);
  });

  it('follows intermediates that come with the leaf, if they are authorities', () => {
    const root = rootOf(keys[0]!);
    for (const [extension, expected] of [
      [caExtension, []],
      [{ ...caExtension, cA: false }, ['Untrusted']],
    ] as const) {
      const { privateKeyPem: middleKey } = keys[2]!;
      const middle = { certificatePem: custom(keys[2]!, root, [extension], 'middle'), privateKeyPem: middleKey };
      const leaf = custom(keys[1]!, middle, [san], 'leaf');
      const { privateKeyPem } = keys[1]!;
      const chain = leaf + middle.certificatePem;
      assert.deepEqual(reasons({ certificatePem: chain, privateKeyPem, caPem: root.certificatePem }), expected);
      assert.deepEqual(reasons({ certificatePem: leaf, privateKeyPem, caPem: root.certificatePem }), ['Untrusted']);
    }
  });

  it('trusts a leaf that the bundle contains, as Go does', () => {
    assert.deepEqual(reasons(selfSigned(keys[1]!, [san])), []);
  });

  it('rejects a certificate for clients only, and accepts a certificate for any use', () => {
    for (const [usage, expected] of [
      [[{ name: 'extKeyUsage', clientAuth: true }], ['WrongUsage']],
      [[{ name: 'extKeyUsage', clientAuth: true, serverAuth: true }], []],
      [[{ name: 'extKeyUsage', '2.5.29.37.0': true }], []],
      [[], []],
    ] as const) {
      assert.deepEqual(reasons(selfSigned(keys[1]!, [san, ...usage])), expected);
    }
  });

  it('rejects SHA-1, negative serial numbers and short keys, which OpenSSL accepts but Go rejects', () => {
    const plain = (size: number, serialNumber: string, digest: forge.md.MessageDigest): ServingPair => {
      const made = generateKeyPairSync('rsa', {
        modulusLength: size,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      });
      const certificate = forge.pki.createCertificate();
      certificate.publicKey = forge.pki.publicKeyFromPem(made.publicKey);
      certificate.serialNumber = serialNumber;
      certificate.validity = { notBefore: later(-hour), notAfter: later(hour) };
      certificate.setSubject([{ name: 'commonName', value: 'plain' }]);
      certificate.setIssuer([{ name: 'commonName', value: 'plain' }]);
      certificate.sign(forge.pki.privateKeyFromPem(made.privateKey), digest);
      const certificatePem = forge.pki.certificateToPem(certificate);
      return { certificatePem, privateKeyPem: made.privateKey, caPem: certificatePem };
    };
    assert.deepEqual(reasons(plain(1024, '41', forge.md.sha256.create())), []);
    assert.deepEqual(reasons(plain(1024, '41', forge.md.sha1.create())), ['Unsupported']);
    assert.deepEqual(reasons(plain(1024, 'c1', forge.md.sha256.create())), ['Unsupported']);
    assert.deepEqual(reasons(plain(512, '41', forge.md.sha256.create())), ['Unsupported']);
  });

  it('never repeats a key in a message', () => {
    const faults = verifyServingPair(parsePair({ ...pair, privateKeyPem: 'secret-text' }), { now });
    assert.doesNotMatch(JSON.stringify(faults), /secret-text/);
  });

  it('identifies the issuer by the signature and not only by the name', () => {
    const [root, namesake] = [rootOf(keys[0]!), rootOf(keys[4]!)];
    const { x509 } = readChain(custom(keys[1]!, root, [san]))[0];
    assert.equal(isIssuedBy(x509, readChain(root.certificatePem)[0].x509), true);
    assert.equal(isIssuedBy(x509, readChain(namesake.certificatePem)[0].x509), false);
  });
});
