import assert from 'node:assert/strict';
import { omittedFunctions } from './omitted-functions.ts';
import { sprigFunctions } from './sprig-functions.ts';

describe('sprig’s functions', () => {
  it('are offered, or left out for a reason', () => {
    const offered = Object.keys(sprigFunctions);
    const omitted = Object.keys(omittedFunctions);
    const both = offered.filter((name) => omitted.includes(name));
    assert.deepEqual(both, []);
    // As many as TxtFuncMap of sprig v3.3.0 has.
    assert.equal(offered.length + omitted.length, 211);
  });
});
