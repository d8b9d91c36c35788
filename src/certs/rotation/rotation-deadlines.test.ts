import assert from 'node:assert/strict';
import type { CertificateChain } from '../read-certificate.ts';
import { deadlines } from './rotation.ts';
import { shortPolicy } from '../testdata/world.ts';

const now = new Date('2026-03-01T00:00:00Z');
const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
const situation = { bundles: [], policy: shortPolicy, now, expired: false };

describe('deadlines', () => {
  const chain = [{}] as unknown as CertificateChain;
  const table: [string, number[], number][] = [
    ['the earliest of several deadlines', [30_000, 20_000], 20_000],
    ['the lifetime of a leaf if there is no deadline', [], shortPolicy.leafDuration],
    ['at least a second, so that passes do not run in a tight loop', [1], 1000],
    ['the earliest future deadline', [-5, 0, 9000], 9000],
  ];
  for (const [what, retirements, expected] of table) {
    it(`run the next pass after ${what}`, () => {
      const retiring = retirements.map((milliseconds) => ({ chain, retireAfter: later(milliseconds) }));
      assert.deepEqual(deadlines({ retiring }, undefined, situation).nextAt, later(expected));
    });
  }
});
