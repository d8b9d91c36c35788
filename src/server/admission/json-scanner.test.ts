import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonScanner } from './json-scanner.ts';

/** Scans a text cut into pieces of the given length. */
function scan(json: string, bounds: { maxDepth?: number; maxValues?: number }, length = Infinity): string | undefined {
  const scanner = new JsonScanner({ maxDepth: 1000, maxValues: 1000, ...bounds });
  const bytes = Buffer.from(json);
  for (let start = 0; start < bytes.length; start += length) {
    const problem = scanner.scan(bytes.subarray(start, start + length));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

describe('JsonScanner', () => {
  for (const [json, depth, values] of [
    ['1', 0, 1],
    ['{}', 1, 2],
    ['[[],[]]', 2, 5],
    ['{"a":{"b":[1]}}', 3, 4],
    ['"[[[[,,,"', 0, 1],
    [String.raw`["\"[,", "\\", [1]]`, 2, 5],
    [String.raw`["\\\"", {}]`, 2, 4],
    ['["unterminated [[[', 1, 2],
    [String.raw`["ends in a backslash \ `.trim(), 1, 2],
  ] as const) {
    for (const length of [Infinity, 1, 2, 3]) {
      it(`finds depth ${depth} and value count ${values} in ${json} with a piece length of ${length}`, () => {
        assert.equal(scan(json, { maxDepth: depth, maxValues: values }, length), undefined);
        if (depth > 0)
          assert.equal(scan(json, { maxDepth: depth - 1 }, length), `nests deeper than ${depth - 1} levels`);
        if (values > 1)
          assert.equal(scan(json, { maxValues: values - 1 }, length), `contains more than ${values - 1} values`);
      });
    }
  }

  it('finds the depth of a text cut anywhere, and never counts too few values', () => {
    const values = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 9 }), (value, length) => {
        const depth = depthOf(value);
        const json = JSON.stringify(value);
        const maxValues = json.length + 1;
        assert.equal(scan(json, { maxDepth: depth, maxValues }, length), undefined);
        if (depth > 0) assert.match(scan(json, { maxDepth: depth - 1, maxValues }, length) ?? '', /^nests/);
        const count = valuesIn(value);
        if (count > 1) assert.match(scan(json, { maxValues: count - 1 }, length) ?? '', /^contains/);
      }),
    );
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}
