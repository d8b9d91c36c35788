import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsonText, printable } from './printable-text.ts';

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const units = 'a|\n|\t|\u001B|\u0085|\u202E|\u2028|\u{E0001}|\uD800|\uDC00|😀|\\|"'.split('|');
const texts = fc.array(fc.constantFrom(...units)).map((each) => each.join(''));

describe('printable text', () => {
  it('has no unprintable characters but the layout, and keeps all others', () => {
    const property = fc.property(texts, (text) => {
      assert.doesNotMatch(printable(text), unprintable);
      const decode = (_: string, code: string): string => String.fromCodePoint(parseInt(code, 16));
      assert.equal(printable(text).replaceAll(/\\u\{([0-9a-f]+)\}/g, decode), text);
    });
    fc.assert(property);
    assert.equal(printable('a\tb\u202E😀\n', '\n'), 'a\\u{9}b\\u{202e}😀\n');
  });

  it('is JSON that parsers read as equal data', () => {
    const property = fc.property(fc.dictionary(texts, fc.array(texts)), (data) => {
      assert.doesNotMatch(jsonText(data, 2).replaceAll('\n', ''), unprintable);
      assert.deepEqual(JSON.parse(jsonText(data)), JSON.parse(JSON.stringify(data)));
    });
    fc.assert(property);
  });
});
