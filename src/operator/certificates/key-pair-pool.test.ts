import assert from 'node:assert/strict';
import type { KeyPair } from '../../certs/key-pair.ts';
import { settle } from '../../kube/testdata/manual-clock.ts';
import { KeyPairPool } from './key-pair-pool.ts';

describe('KeyPairPool', () => {
  let made: number[];
  let fail: boolean;
  const generate = (bits: number): Promise<KeyPair> => {
    made.push(bits);
    if (fail) return Promise.reject(new Error('no entropy'));
    return Promise.resolve({ privateKeyPem: `private ${made.length}`, publicKeyPem: `public ${made.length}` });
  };
  beforeEach(() => {
    made = [];
    fail = false;
  });

  it('keeps four keys of the default size, hands out each key once, and generates replacements', async () => {
    const pool = new KeyPairPool(generate);
    pool.fill();
    await settle();
    assert.deepEqual(made, Array(4).fill(2048));
    const keys = [await pool.take(2048), await pool.take(2048)].map(({ privateKeyPem }) => privateKeyPem);
    assert.deepEqual(keys, ['private 1', 'private 2']);
    await settle();
    assert.deepEqual(made, Array(6).fill(2048));
    await pool.take(4096);
    assert.deepEqual(made.slice(6), [4096]);
  });

  it('generates a key when the pool is empty', async () => {
    const pool = new KeyPairPool(generate);
    assert.match((await pool.take(2048)).privateKeyPem, /^private/);
  });

  it('rejects when generation fails, and retries on the next call', async () => {
    const pool = new KeyPairPool(generate);
    fail = true;
    pool.fill();
    await settle();
    await assert.rejects(pool.take(2048), /no entropy/);
    fail = false;
    await pool.take(2048);
    await settle();
    const before = made.length;
    await pool.take(2048);
    assert.ok(made.length > before);
  });
});
