import assert from 'node:assert/strict';
import { omittedFunctions } from './omitted-functions.ts';
import { sprigFunctions } from './sprig-functions.ts';

describe('sprig’s functions', () => {
  it('are either provided or omitted for a reason', () => {
    const provided = Object.keys(sprigFunctions);
    const omitted = Object.keys(omittedFunctions);
    const both = provided.filter((name) => omitted.includes(name));
    assert.deepEqual(both, []);
    // The number of functions in TxtFuncMap of sprig v3.3.0.
    assert.equal(provided.length + omitted.length, 211);
  });
});
