import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ConfigurationError } from '../errors.ts';
import { formatRolloutAction, parseRolloutAction, rolloutVerbs } from './rollout-action.ts';

describe('a request about a rollout', () => {
  it('reads what it writes', () => {
    const action = fc.record({
      verb: fc.constantFrom(...rolloutVerbs),
      nonce: fc.stringMatching(/^[A-Za-z0-9-]{1,63}$/),
    });
    fc.assert(
      fc.property(action, (given) => {
        assert.deepEqual(parseRolloutAction(formatRolloutAction(given)), { ...given });
      }),
    );
  });

  for (const value of [
    '',
    'abort',
    'abort:',
    'abort: a',
    'undo:1',
    'ABORT:1',
    `abort:${'a'.repeat(64)}`,
    'abort:a\nretry:b',
  ]) {
    it(`refuses ${JSON.stringify(value).slice(0, 30)}`, () => {
      assert.throws(
        () => parseRolloutAction(value),
        (error) =>
          error instanceof ConfigurationError &&
          error.field === 'metadata.annotations[sidecar-injector.io/action]' &&
          error.message.includes('promote, abort, resume, retry'),
      );
    });
  }
});
