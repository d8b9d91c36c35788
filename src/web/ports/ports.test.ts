import assert from 'node:assert/strict';
import * as buffer from 'node:buffer';
import * as crypto from 'node:crypto';
import * as net from 'node:net';
import * as util from 'node:util';
import * as fc from 'fast-check';
import { Buffer } from './buffer.ts';
import { createHash } from './crypto.ts';
import { isIP, isIPv6 } from './net.ts';
import { isDeepStrictEqual } from './util.ts';

/** Any text, also with lone surrogates. */
const anyText = fc.string({ unit: 'binary' });
const bytes = fc.uint8Array({ maxLength: 400 });

describe('the ports of Node to browsers', () => {
  it('hash as Node does', () => {
    fc.assert(
      fc.property(fc.constantFrom('sha1', 'sha256', 'sha512'), bytes, anyText, (algorithm, some, more) => {
        const mine = createHash(algorithm).update(some).update(more.toWellFormed()).digest('hex');
        assert.equal(mine, crypto.createHash(algorithm).update(some).update(more).digest('hex'));
      }),
    );
  });

  it('pad every length as Node does', () => {
    for (let length = 0; length < 300; length += 1) {
      const some = new Uint8Array(length).fill(length);
      for (const algorithm of ['sha1', 'sha256', 'sha512'] as const)
        assert.equal(
          createHash(algorithm).update(some).digest('hex'),
          crypto.createHash(algorithm).update(some).digest('hex'),
          `${algorithm} of ${length} bytes`,
        );
    }
  });

  it('recognize addresses as Node does', () => {
    const group = fc.oneof(
      fc.constantFrom('', '0', '::', 'fFfF', '12345', 'g', '1.2.3.4', '01.2.3.4', '1.2.3.256'),
      fc.integer({ min: 0, max: 65535 }).map((number) => number.toString(16)),
    );
    const v6 = fc
      .tuple(fc.array(group, { maxLength: 9 }), fc.constantFrom('', '', '%', '%eth0', '%a%b', '%ü', '\n'))
      .map(([groups, zone]) => groups.join(':') + zone);
    const v4 = fc
      .array(fc.oneof(fc.integer({ min: 0, max: 300 }).map(String), fc.constantFrom('', '00', '1 ')), { maxLength: 5 })
      .map((parts) => parts.join('.'));
    fc.assert(
      fc.property(fc.oneof(v6, v4, anyText), (text) => {
        assert.deepEqual([isIP(text), isIPv6(text)], [net.isIP(text), net.isIPv6(text)]);
      }),
      { numRuns: 20_000 },
    );
  });

  it('compare JSON values as Node does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.boolean(), (one, other, isSame) => {
        const right = isSame ? structuredClone(one) : other;
        assert.equal(isDeepStrictEqual(one, right), util.isDeepStrictEqual(one, right));
      }),
    );
    assert.equal(isDeepStrictEqual({ a: undefined }, { b: undefined }), false);
    assert.equal(isDeepStrictEqual([], {}), false);
  });

  it('encode and decode as Node does', () => {
    fc.assert(
      fc.property(anyText, bytes, bytes, (text, some, other) => {
        const node = buffer.Buffer.from(some);
        const mine = Buffer.from(some);
        for (const encoding of ['utf8', 'latin1', 'base64'] as const)
          assert.equal(mine.toString(encoding), node.toString(encoding));
        assert.equal(mine.toString(), node.toString());
        assert.deepEqual([...Buffer.from(text)], [...buffer.Buffer.from(text)]);
        assert.deepEqual([...Buffer.from(text, 'latin1')], [...buffer.Buffer.from(text, 'latin1')]);
        const base64 = node.toString('base64').replace(/.{20}/g, '$&\r\n');
        assert.deepEqual([...Buffer.from(base64, 'base64')], [...some]);
        assert.equal(Buffer.byteLength(text), buffer.Buffer.byteLength(text));
        assert.equal(Buffer.compare(some, other), buffer.Buffer.compare(some, other));
        assert.equal(Buffer.compare(some, some.slice(0, 3)), buffer.Buffer.compare(some, some.slice(0, 3)));
      }),
    );
  });

  it('write into a part as Node does', () => {
    fc.assert(
      fc.property(anyText, fc.nat(5), (text, offset) => {
        const mine = Buffer.allocUnsafe(offset + text.length * 3).fill(0);
        const node = buffer.Buffer.alloc(mine.length);
        assert.equal(mine.write(text, offset), node.write(text, offset));
        assert.equal(mine.subarray(offset).toString(), node.subarray(offset).toString());
      }),
    );
  });
});
