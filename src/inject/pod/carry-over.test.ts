import assert from 'node:assert/strict';
import { carryOver } from './carry-over.ts';

describe('carryOver', () => {
  it('is the pod that arrived when nothing changed', () => {
    const raw = { future: 1 };
    const read = {};
    assert.equal(carryOver(raw, read, read), raw);
  });

  it('keeps what reading has dropped', () => {
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

  it('leaves out defaults that reading has added and nobody has touched', () => {
    const resources = {};
    const read = { resources, status: {}, image: 'a' };
    assert.deepEqual(carryOver({ image: 'a' }, read, { ...read, image: 'b' }), { image: 'b' });
  });

  it('takes a list for a list only, and the first of two items of one name', () => {
    assert.deepEqual(carryOver({ a: [1] }, { a: [2] }, { a: 'b' }), { a: 'b' });
    const raw = [{ name: 'a', future: 1 }, { name: 'a', future: 2 }, { future: 3 }];
    const read = [{ name: 'a' }, { name: 'a' }, {}];
    assert.deepEqual(carryOver(raw, read, [read[1], { name: 'a', image: 'i' }, read[2]]), [
      raw[1],
      { name: 'a', future: 1, image: 'i' },
      raw[2],
    ]);
  });

  it('drops what was taken away, also where names are those of Object', () => {
    const raw = JSON.parse('{"__proto__": {"x": 1}, "gone": 1, "constructor": 2}') as Record<string, unknown>;
    const result = carryOver(raw, { gone: 1, constructor: 2 }, { constructor: 3 }) as Record<string, unknown>;
    assert.deepEqual(Object.keys(result), ['__proto__', 'constructor']);
    assert.equal(result.constructor, 3);
  });
});
