import assert from 'node:assert/strict';
import { deadlines } from './rotation.ts';
import { shortPolicy } from '../testdata/world.ts';

const now = new Date('2026-03-01T00:00:00Z');
const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
const situation = { bundles: [], policy: shortPolicy, now, expired: false };

describe('deadlines', () => {
  const table: [string, number[], number][] = [
    ['the first of several', [30_000, 20_000], 20_000],
    ['a life of a leaf when there is none', [], shortPolicy.leafDuration],
    ['a second at least, so that no clock makes a pass run hot', [1], 1000],
    ['what is still to come', [-5, 0, 9000], 9000],
  ];
  for (const [what, retirements, expected] of table) {
    it(`look again after ${what}`, () => {
      const retiring = retirements.map((milliseconds) => ({ certificatePem: '', retireAfter: later(milliseconds) }));
      assert.deepEqual(deadlines({ retiring }, undefined, situation).nextAt, later(expected));
    });
  }
});
