import assert from 'node:assert/strict';
import fc from 'fast-check';
import { requestBody } from './request-body.ts';

describe('requestBody', () => {
  const rows: [string, string][] = [
    ['web\u0080', String.raw`"web\u0080"`],
    ['\u0000\u007f\u0085\u2028\ufffe\uffff', String.raw`"\u0000\u007f\u0085\u2028\ufffe\uffff"`],
    ['a\n"\\ud800', String.raw`"a\n\"\\ud800"`],
    ['\ud800 \udfff', String.raw`"\ufffd \ufffd"`],
    ['\\\ud800', String.raw`"\\\ufffd"`],
    ['é\u{1f600}', String.raw`"\u00e9` + '\u{1f600}"'],
  ];
  for (const [text, body] of rows) it(`writes ${body}`, () => assert.equal(requestBody(text), body));

  it('is JSON that YAML reads alike, whatever characters keys and values have', () => {
    const text = fc.string({ unit: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) });
    const wellFormed = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? each.toWellFormed() : each)));
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string({ unit: 'binary' }), text)), (value) => {
        const body = requestBody(value);
        assert.deepEqual(JSON.parse(body), wellFormed(value));
        assert.match(body, /^[\u0020-\u007e\u{10000}-\u{10ffff}]*$/u);
        assert.doesNotMatch(body.replaceAll('\\\\', ''), /\\ud[89a-f]/);
      }),
    );
  });
});
