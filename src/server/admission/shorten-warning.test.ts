import assert from 'node:assert/strict';
import { shortenWarning } from './encode-admission-review.ts';

describe('shortenWarning', () => {
  for (const [text, shown] of [
    ['short', 'short'],
    ['two\nlines\tand \u0007 a bell', 'two lines and   a bell'],
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(117)}...`],
    ['🛵'.repeat(121), `${'🛵'.repeat(117)}...`],
  ] as const) {
    it(`${JSON.stringify(text.slice(0, 24))} (${text.length} units)`, () => {
      assert.equal(shortenWarning(text), shown);
    });
  }
});
