import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isDeeperThan } from './json-depth.ts';

describe('isDeeperThan', () => {
  for (const [json, depth] of [
    ['', 0],
    ['1', 0],
    ['{}', 1],
    ['[[],[]]', 2],
    ['{"a":{"b":[1]}}', 3],
    ['"[[[["', 0],
    [String.raw`["\"[", "\\", [1]]`, 2],
    ['["unterminated [[[', 1],
    [String.raw`["ends in a backslash \ `.trim(), 1],
  ] as const) {
    it(`${json || 'nothing'} nests ${depth} deep`, () => {
      assert.equal(isDeeperThan(depth, Buffer.from(json)), false);
      if (depth > 0) assert.equal(isDeeperThan(depth - 1, Buffer.from(json)), true);
    });
  }

  it('agrees with the depth of what JSON.parse returns', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const depth = depthOf(value);
        const json = Buffer.from(JSON.stringify(value));
        assert.equal(isDeeperThan(depth, json), false);
        if (depth > 0) assert.equal(isDeeperThan(depth - 1, json), true);
      }),
    );
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
