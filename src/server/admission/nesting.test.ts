import assert from 'node:assert/strict';
import { nestsDeeperThan } from './nesting.ts';

describe('nestsDeeperThan', () => {
  for (const [json, depth] of [
    ['1', 0],
    ['null', 0],
    ['"{{{"', 0],
    ['{}', 1],
    ['[[],1,[]]', 2],
    ['{"a":1,"b":{"c":[1]}}', 3],
    ['{"__proto__":{"a":{}}}', 3],
  ] as const) {
    it(`${json} nests ${depth} deep`, () => {
      const value: unknown = JSON.parse(json);
      assert.equal(nestsDeeperThan(depth, value), false);
      if (depth > 0) assert.equal(nestsDeeperThan(depth - 1, value), true);
    });
  }

  it('does not exhaust the stack on what it refuses', () => {
    const deep: unknown = JSON.parse('['.repeat(60_000) + ']'.repeat(60_000));
    assert.equal(nestsDeeperThan(200, deep), true);
  });
});
