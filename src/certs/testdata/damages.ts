import { issueAuthority, issueServingCertificate } from '../issue-certificate.ts';
import type { ServingPair } from '../verify-chain.ts';
import { ellipticPair } from './elliptic-pair.ts';
import { keyPool, seededBytes } from './key-pool.ts';
import { names, shortPolicy, type World } from './world.ts';

/** Returns a pair and an authority that the operator does not know. */
export async function foreignPair(now: number): Promise<ServingPair> {
  const keys = await keyPool();
  const { caDuration, leafDuration } = shortPolicy;
  const options = { now: new Date(now), random: seededBytes(99) };
  const authority = issueAuthority('foreign', keys[6]!, { ...options, duration: caDuration });
  const leaf = issueServingCertificate(authority, names, keys[7]!, { ...options, duration: leafDuration });
  return { ...leaf, caPem: authority.certificatePem };
}

type Damage = (world: World, seed: number) => void | Promise<void>;

function storedValue(change: (value: string) => string | undefined): Damage {
  return (world, seed) => {
    const keys = Object.keys(world.stored ?? {}).sort();
    const key = keys[seed % keys.length];
    if (key !== undefined) {
      const value = change(world.stored?.[key] ?? '');
      const others = Object.entries(world.stored ?? {}).filter(([name]) => name !== key);
      world.stored = Object.fromEntries(value === undefined ? others : [...others, [key, value]]);
    }
  };
}

function servingPart(change: (pair: ServingPair) => Partial<ServingPair>): Damage {
  return (world) => {
    world.serving = world.serving && { ...world.serving, ...change(world.serving) };
  };
}

function bundle(change: (pem: string) => string): Damage {
  return (world, seed) => {
    const names = [...world.configurations.keys()];
    const name = names[seed % names.length];
    const pem = name === undefined ? undefined : world.configurations.get(name)?.bundles.at(-1)?.pem;
    if (name !== undefined && pem !== undefined) world.publish(name, change(pem), true);
  };
}

/** The ways in which one object can be lost or corrupted. */
export const damages: Readonly<Record<string, Damage>> = {
  'stored Secret deleted': (world) => {
    world.stored = undefined;
  },
  'stored Secret emptied': (world) => {
    world.stored = {};
  },
  'stored value removed': storedValue(() => undefined),
  'stored value truncated': storedValue((value) => value.slice(0, value.length / 2)),
  'stored value garbage': storedValue(() => 'garbage'),
  'stored Secret of an earlier time': (world, seed) => {
    world.stored = world.history[seed % world.history.length];
  },
  'serving Secret deleted': (world) => {
    world.serving = undefined;
  },
  'serving certificate truncated': servingPart(({ certificatePem }) => ({
    certificatePem: certificatePem.slice(0, certificatePem.length / 2),
  })),
  'serving key of another pair': async (world) => {
    const [key] = await keyPool();
    world.serving = world.serving && { ...world.serving, privateKeyPem: key!.privateKeyPem };
  },
  'serving pair of another algorithm': async (world) => {
    const { certificate, key } = await ellipticPair('foreign', new Date(world.now));
    world.serving = world.serving && { ...world.serving, certificatePem: certificate, privateKeyPem: key };
  },
  'serving authority emptied': servingPart(() => ({ caPem: '' })),
  'foreign serving Secret': async (world) => {
    world.serving = await foreignPair(world.now);
  },
  'bundle emptied': bundle(() => ''),
  'bundle garbage': bundle((pem) => pem.replaceAll('A', 'B')),
  'bundle without newlines': bundle((pem) => pem.replaceAll('\n', '')),
  'foreign bundle': (world, seed) => foreignPair(world.now).then(({ caPem }) => bundle(() => caPem)(world, seed)),
  'configuration deleted': (world, seed) => {
    world.configurations.delete(seed % 2 === 0 ? 'one' : 'two');
  },
};
