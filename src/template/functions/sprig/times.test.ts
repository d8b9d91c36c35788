import assert from 'node:assert/strict';
import { compileTemplate } from '../../template.ts';
import { sprigFunctions } from './sprig-functions.ts';

describe('times', () => {
  const leap = '(toDate "2006-01-02" "2024-02-29")';
  const long = `(repeat 1001 "x")`;
  const refused: readonly (readonly [string, RegExp])[] = [
    ['date "2006" 1.5', /^error calling date: a date of type float64 means the present time; give a time \(toDate\)/],
    ['htmlDate nil', /^error calling htmlDate: a date of type interface \{\} means the present time/],
    [`durationRound ${leap}`, /the time since a date depends on the present time; give a duration$/],
    ['dateInZone "MST" 0 "Europe/Paris"', /zones have no abbreviations here; write -0700 instead of MST$/],
    [`date ${long} 0`, /a layout or a value of more than 1000 characters$/],
    [`mustToDate "2006" ${long}`, /a layout or a value of more than 1000 characters$/],
    ['mustToDate "2006-01-02" "2024x01"', /parsing time "2024x01" as "2006-01-02": cannot parse "x01" as "-"$/],
    [`${leap}.Month`, /^can't evaluate field Month in type time\.Time$/],
  ];
  for (const [call, reason] of refused) {
    it(`are refused: ${call}`, () => {
      const template = compileTemplate(`{{ ${call} }}`, { name: 't', functions: sprigFunctions });
      assert.throws(() => template.execute({}), { kind: 'execution', reason });
    });
  }

  it('are of any year in any zone', () => {
    const text = '{{ dateInZone "2006-01-02 15Z07" 9223372036854775807 "Europe/Paris" }}';
    const template = compileTemplate(text, { name: 't', functions: sprigFunctions });
    assert.equal(template.execute({}), '292277026596-12-04 16+01');
  });
});
