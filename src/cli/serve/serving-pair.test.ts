import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';
import type { CertifiedKey } from '../../certs/key-pair.ts';
import { loadPair, onePair, readPair } from './serving-pair.ts';

describe('loadPair', () => {
  let pair: CertifiedKey;
  let otherKey: string;
  const { path, write } = temporaryFolder();
  const keys = () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return {
      privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    };
  };
  before(() => {
    const options = { now: new Date(), duration: 3_600_000, random: (size: number) => Buffer.alloc(size, 7) };
    const [caKeys, leafKeys] = [keys(), keys()];
    const authority = issueAuthority('test', caKeys, options);
    pair = issueServingCertificate(authority, { service: 'a', namespace: 'b' }, leafKeys, options);
    otherKey = caKeys.privateKeyPem;
  });

  it('loads a pair from two files and serves it for every name', () => {
    const loaded = loadPair(readPair(write('cert', pair.certificatePem), write('key', pair.privateKeyPem)));
    const pairs = onePair(() => loaded);
    assert.equal(pairs.defaultPair(), loaded);
    assert.equal(pairs.forServerName('anything'), undefined);
    assert.deepEqual([...pairs.expiries()], [['serve', loaded.notAfter]]);
    assert.deepEqual([...onePair(() => undefined).expiries()], []);
    assert.throws(() => readPair(path('none'), ''), /--tls-cert .*none: no such file/);
  });

  const refused: [string, () => CertifiedKey, RegExp][] = [
    ['a key of another pair', () => ({ ...pair, privateKeyPem: otherKey }), /--tls-key.*does not belong/],
    ['a bad certificate', () => ({ ...pair, certificatePem: 'x' }), /--tls-cert: .* not contain a certificate/],
    ['a bad key', () => ({ ...pair, privateKeyPem: 'secret' }), /--tls-key: .* not contain an unencrypted/],
  ];
  for (const [title, texts, message] of refused) {
    it(`refuses ${title}, and does not quote the key`, () => {
      const isQuiet = (error: Error) => message.test(error.message) && !error.message.includes('secret');
      assert.throws(() => loadPair(texts()), isQuiet);
    });
  }
});
