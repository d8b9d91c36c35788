import { generateKeyPair as generate } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyPair } from '../key-pair.ts';

const size = 8;
let pool: Promise<KeyPair[]> | undefined;

/** Returns RSA keys, generated once per run and short for speed. Neighbours always differ. */
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

/** Returns a generator that returns the pool's keys in turn and ignores the requested size. */
export function pooledKeys(): () => Promise<KeyPair> {
  let next = 0;
  return async () => (await keyPool())[next++ % size]!;
}

/** Returns a source of pseudo-random bytes that repeats in each run. */
export function seededBytes(seed: number): (length: number) => Uint8Array {
  let state = seed >>> 0;
  return (length) =>
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    });
}
