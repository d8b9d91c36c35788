import assert from 'node:assert/strict';
import { carryOver } from './carry-over.ts';

describe('carryOver', () => {
  it('returns the original pod when nothing changed', () => {
    const raw = { future: 1 };
    const read = {};
    assert.equal(carryOver(raw, read, read), raw);
  });

  it('keeps fields that parsing dropped', () => {
    const shared = { name: 'a', image: 'i' };
    const raw = { kept: true, list: [{ ...shared, future: 1 }, shared], nested: { future: 2, own: 1 } };
    const read = { list: [shared, shared], nested: { own: 1 } };
    const result = { list: [{ ...shared, image: 'j' }, { name: 'new' }], nested: { own: 1, added: 3 } };
    assert.deepEqual(carryOver(raw, read, result), {
      kept: true,
      list: [{ name: 'a', image: 'j', future: 1 }, { name: 'new' }],
      nested: { future: 2, own: 1, added: 3 },
    });
  });

  it('removes unchanged defaults that parsing added', () => {
    const resources = {};
    const read = { resources, status: {}, image: 'a' };
    assert.deepEqual(carryOver({ image: 'a' }, read, { ...read, image: 'b' }), { image: 'b' });
  });

  it('matches lists only with lists, and uses the first of two items with the same name', () => {
    assert.deepEqual(carryOver({ a: [1] }, { a: [2] }, { a: 'b' }), { a: 'b' });
    const raw = [{ name: 'a', future: 1 }, { name: 'a', future: 2 }, { future: 3 }];
    const read = [{ name: 'a' }, { name: 'a' }, {}];
    assert.deepEqual(carryOver(raw, read, [read[1], { name: 'a', image: 'i' }, read[2]]), [
      raw[1],
      { name: 'a', future: 1, image: 'i' },
      raw[2],
    ]);
  });

  it('removes deleted members, including names of Object.prototype', () => {
    const raw = JSON.parse('{"__proto__": {"x": 1}, "gone": 1, "constructor": 2}') as Record<string, unknown>;
    const result = carryOver(raw, { gone: 1, constructor: 2 }, { constructor: 3 }) as Record<string, unknown>;
    assert.deepEqual(Object.keys(result), ['__proto__', 'constructor']);
    assert.equal(result.constructor, 3);
  });
});
