import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readRows } from '../merge/testdata/read-rows.ts';
import { canonicalQuantity, QuantityError } from './quantity.ts';

/** A text with the quantity or the error from k8s.io/apimachinery. */
interface QuantityRow {
  t: string;
  q?: string;
  e?: string;
}

describe('canonicalQuantity', () => {
  const rows = readRows<QuantityRow>(new URL('testdata/quantities.jsonl.gz', import.meta.url));

  it(`normalizes ${rows.length} recorded texts like Go`, () => {
    for (const { t, q, e } of rows) {
      if (e === undefined) assert.equal(canonicalQuantity(t), q, JSON.stringify(t));
      else assert.throws(() => canonicalQuantity(t), new QuantityError(e), JSON.stringify(t));
    }
  });

  const cases: [text: string, canonical: string][] = [
    ['100m', '100m'],
    ['1000m', '1'],
    ['2000', '2k'],
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.1Ki', '102400m'],
    ['1e3', '1e3'],
    ['10e3', '10e3'],
    ['1e4', '10e3'],
    ['0.1n', '1n'],
    ['16Ei', '9223372036854775807'],
    ['-1.5Gi', '-1536Mi'],
    ['0Gi', '0'],
  ];
  for (const [text, canonical] of cases) {
    it(`normalizes ${text} to ${canonical}`, () => {
      assert.equal(canonicalQuantity(text), canonical);
    });
  }

  it('rejects very long texts', () => {
    assert.throws(() => canonicalQuantity('1'.repeat(2000)), QuantityError);
  });

  it('is idempotent', () => {
    const most = 10n ** 20n;
    const number = fc.tuple(fc.bigInt({ min: -most, max: most }), fc.nat({ max: 999_999_999 }), fc.boolean());
    const suffix = fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'Gi', 'e2', 'E-3');
    fc.assert(
      fc.property(number, suffix, ([whole, fraction, plain], unit) => {
        const canonical = canonicalQuantity(`${whole.toString()}${plain ? '' : `.${fraction}`}${unit}`);
        assert.equal(canonicalQuantity(canonical), canonical);
      }),
    );
  });
});
