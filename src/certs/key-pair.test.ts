import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { generateRsaKeyPair } from './key-pair.ts';

describe('generateRsaKeyPair', () => {
  it('generates a matching RSA key pair of the requested size, in PEM', async () => {
    const { privateKeyPem, publicKeyPem } = await generateRsaKeyPair(2048);
    const key = createPrivateKey(privateKeyPem);
    assert.equal(key.asymmetricKeyType, 'rsa');
    assert.equal(key.asymmetricKeyDetails?.modulusLength, 2048);
    assert.equal(createPublicKey(key).export({ type: 'spki', format: 'pem' }), publicKeyPem);
    assert.match(privateKeyPem, /^-----BEGIN PRIVATE KEY-----\n/);
  });
});
