import assert from 'node:assert/strict';
import type { Mistake } from '../api/mistake.ts';
import type { AdmissionDecision } from './admission-decision.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { podCreation } from './testdata/reviews.ts';
import { validateRoute, type ValidateObject } from './validate-route.ts';

const request = podCreation({
  resource: 'injectorconfigs.sidecar-injector.io',
  name: 'canary',
  object: { kind: 'InjectorConfig' },
});

async function decide(validate: ValidateObject, of: AdmissionRequest = request): Promise<AdmissionDecision> {
  const resolved = validateRoute(validate).resolve('/validate');
  assert.ok(resolved !== undefined && 'handler' in resolved);
  return resolved.handler(of);
}

const mistakes: Mistake[] = [
  { field: 'spec.revision', message: 'spec.revision must be a label' },
  { field: 'spec.webhook.url', message: 'must be https' },
  { field: '', message: 'the name is taken' },
];

describe('validateRoute', () => {
  it('is one path', () => {
    assert.equal(validateRoute(() => []).resolve('/validate/x'), undefined);
    assert.equal(validateRoute(() => []).resolve('/validat'), undefined);
  });

  it('hands over the whole request and allows what has no mistakes', async () => {
    const seen: AdmissionRequest[] = [];
    const decision = await decide((of) => {
      seen.push(of);
      return [];
    });
    assert.deepEqual(seen, [request]);
    assert.deepEqual(decision, { outcome: 'allowed', reason: 'Valid', allowed: true, warnings: [] });
  });

  for (const [what, validate] of [
    ['at once', () => mistakes],
    ['later', () => Promise.resolve(mistakes)],
  ] as const) {
    it(`refuses with every field, found ${what}`, async () => {
      const decision = await decide(validate);
      assert.equal(decision.allowed, false);
      assert.deepEqual(decision.status, {
        code: 422,
        reason: 'Invalid',
        message:
          'injectorconfigs.sidecar-injector.io "canary" is invalid: ' +
          'spec.revision must be a label; spec.webhook.url: must be https; the name is taken',
        causes: mistakes,
      });
    });
  }

  it('names an object whose resource is not said', async () => {
    const decision = await decide(
      () => [{ field: '', message: 'no' }],
      podCreation({ resource: undefined, name: 'a' }),
    );
    assert.equal(decision.status?.message, 'object "a" is invalid: no');
  });
});
