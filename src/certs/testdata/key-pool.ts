import { generateKeyPair as generate } from 'node:crypto';
import { promisify } from 'node:util';
import type { GenerateKeyPair, KeyPair } from '../key-pair.ts';

const size = 8;
let pool: Promise<KeyPair[]> | undefined;

/** RSA keys made once per test run; small, so that thousands of certificates can be signed. Neighbours are never the same key. */
export async function keyPool(): Promise<KeyPair[]> {
  pool ??= Promise.all(
    Array.from({ length: size }, async () => {
      const keys = await promisify(generate)('rsa', {
        modulusLength: 1024,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      });
      return { privateKeyPem: keys.privateKey, publicKeyPem: keys.publicKey };
    }),
  );
  return pool;
}

/** A generator that deals the pool's keys in turn, whatever size is asked for. */
export function pooledKeys(): GenerateKeyPair {
  let next = 0;
  return async () => (await keyPool())[next++ % size]!;
}

/** Bytes that look random and are the same in each run. */
export function seededBytes(seed: number): (length: number) => Uint8Array {
  let state = seed >>> 0;
  return (length) =>
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    });
}
