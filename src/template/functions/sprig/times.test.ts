import assert from 'node:assert/strict';
import { compileTemplate } from '../../template.ts';
import { sprigFunctions } from './sprig-functions.ts';

describe('sprig’s functions on times', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['date "2006" 1.5', /^error calling date: a date of type float64 means the present time; give a time \(toDate\)/],
    ['durationRound (toDate "2006" "2024")', /the time since a date depends on the present time; give a duration$/],
    ['dateInZone "MST" 0 "Europe/Paris"', /zones have no abbreviations here; write -0700 instead of MST$/],
    ['mustToDate "2006" (repeat 1001 "x")', /a layout or a value of more than 1000 characters$/],
    ['mustToDate "2006-01-02" "2024x01"', /parsing time "2024x01" as "2006-01-02": cannot parse "x01" as "-"$/],
  ];
  for (const [call, reason] of refused) {
    it(`reject ${call}`, () => {
      const template = compileTemplate(`{{ ${call} }}`, { name: 't', functions: sprigFunctions });
      assert.throws(() => template.execute({}), { kind: 'execution', reason });
    });
  }
});
