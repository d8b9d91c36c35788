import assert from 'node:assert/strict';
import { BodyPieces } from './body-pieces.ts';

const mebibyte = 1024 * 1024;

describe('BodyPieces', () => {
  function bodyOf(bytes: number): Buffer {
    return Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => (index * 7 + (index >> 8)) & 0xff));
  }
  function received(body: Buffer, pieceBytes: number, expectedBytes = body.length): BodyPieces {
    const pieces = new BodyPieces(expectedBytes);
    for (let at = 0; at < body.length; at += pieceBytes) pieces.add(body.subarray(at, at + pieceBytes));
    return pieces;
  }

  for (const [what, bytes, pieceBytes] of [
    ['nothing', 0, 1],
    ['one piece', 100, 100],
    ['several pieces', 1000, 300],
    ['just as much as is joined at the end', mebibyte, 65_536],
    ['a little more', mebibyte + 1, 65_536],
    ['one very large piece', 3 * mebibyte, 3 * mebibyte],
    ['many pieces', 5 * mebibyte + 3, 50_000],
  ] as const) {
    it(`gives back ${what}, whether or not it was declared`, () => {
      const body = bodyOf(bytes);
      for (const expected of [bytes, 20 * mebibyte]) {
        const pieces = received(body, pieceBytes, expected);
        assert.equal(pieces.length, bytes);
        assert.ok(pieces.whole().equals(body));
      }
    });
  }

  it('gives back one piece as it came, without a copy', () => {
    const body = bodyOf(100);
    const pieces = new BodyPieces(100);
    pieces.add(body);
    assert.equal(pieces.whole(), body);
  });

  it('has a large declared body alone in its memory', () => {
    const { buffer, byteLength } = received(bodyOf(5 * mebibyte), 65_536).whole();
    assert.equal(buffer.byteLength, byteLength);
  });

  it('takes no memory for what is only declared', () => {
    const pieces = received(bodyOf(mebibyte + 1), 65_536, 1000 * mebibyte);
    assert.ok(pieces.whole().buffer.byteLength <= 2 * mebibyte + 2);
  });

  it('holds nothing once it is dropped', () => {
    const small = received(bodyOf(100), 50);
    small.drop();
    assert.ok(small.whole().every((byte) => byte === 0));
    const large = received(bodyOf(2 * mebibyte), 65_536);
    const { buffer } = large.whole();
    large.drop();
    assert.notEqual(large.whole().buffer, buffer);
  });
});
