import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ConfigurationError } from '../errors.ts';
import { formatRotateRequest, parseRotateRequest, rotateTargets } from './rotate-request.ts';

describe('a request for a renewal', () => {
  it('reads what it writes', () => {
    const request = fc.record({
      target: fc.constantFrom(...rotateTargets),
      nonce: fc.stringMatching(/^[A-Za-z0-9-]{1,63}$/),
    });
    fc.assert(
      fc.property(request, (given) => {
        assert.deepEqual(parseRotateRequest(formatRotateRequest(given)), { ...given });
      }),
    );
  });

  const refused = [
    '',
    'leaf',
    'leaf:',
    'leaf: a',
    'ca:1',
    'LEAF:1',
    `leaf:${'a'.repeat(64)}`,
    'leaf:a\nauthority:b',
    'leaf:ä',
  ];
  for (const value of refused) {
    it(`refuses ${JSON.stringify(value.slice(0, 20))} and names the annotation`, () => {
      assert.throws(
        () => parseRotateRequest(value),
        (error) =>
          error instanceof ConfigurationError &&
          error.message.startsWith('metadata.annotations[sidecar-injector.io/rotate]: ') &&
          error.message.includes('leaf, authority, authority-force'),
      );
    });
  }
});
