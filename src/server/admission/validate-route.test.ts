import assert from 'node:assert/strict';
import type { Mistake } from '../../api/mistake.ts';
import type { AdmissionDecision, AdmissionRequest } from './admission-decision.ts';
import { podCreation } from '../testdata/reviews.ts';
import { validateRoute, type ValidateObject } from './validate-route.ts';

const object = { kind: 'InjectorConfig' };
const request = podCreation({ resource: 'injectorconfigs.sidecar-injector.io', name: 'canary', object });

async function decide(validate: ValidateObject, admission: AdmissionRequest = request): Promise<AdmissionDecision> {
  const resolved = validateRoute(validate).resolve('/validate');
  assert.ok(resolved !== undefined && 'handler' in resolved);
  return resolved.handler(admission);
}

const mistakes: Mistake[] = [
  { field: 'spec.revision', message: 'spec.revision must be a label' },
  { field: 'spec.webhook.url', message: 'must be https' },
  { field: '', message: 'the name is taken' },
];

describe('validateRoute', () => {
  it('serves only /validate', () => {
    assert.equal(validateRoute(() => ({ mistakes: [] })).resolve('/validate/x'), undefined);
    assert.equal(validateRoute(() => ({ mistakes: [] })).resolve('/validat'), undefined);
  });

  it('passes the whole request and allows an object without mistakes', async () => {
    const seen: AdmissionRequest[] = [];
    const decision = await decide((admission) => {
      seen.push(admission);
      return { mistakes: [] };
    });
    assert.deepEqual(seen, [request]);
    assert.deepEqual(decision, { outcome: 'allowed', reason: 'Valid', allowed: true, warnings: [] });
  });

  it('returns the warnings of an allowed object', async () => {
    const decision = await decide(() => ({ mistakes: [], warnings: ['it does not compile'] }));
    assert.deepEqual([decision.allowed, decision.warnings], [true, ['it does not compile']]);
  });

  it('refuses the deletion of an object in use as a conflict', async () => {
    const inUse = 'InjectorConfig canary is in use: 1 namespace leads to it (shop)';
    const decision = await decide(() => ({ mistakes: [], inUse }));
    assert.equal(decision.allowed, false);
    assert.deepEqual(decision.status, { code: 409, reason: 'Conflict', message: inUse, causes: [] });
  });

  it('lists every field in a refusal', async () => {
    const decision = await decide(() => ({ mistakes, warnings: ['never seen'] }));
    assert.deepEqual([decision.allowed, decision.warnings], [false, undefined]);
    const problems = 'spec.revision must be a label; spec.webhook.url: must be https; the name is taken';
    const message = `InjectorConfig "canary" is invalid: ${problems}`;
    const subject = { kind: 'InjectorConfig', name: 'canary' };
    assert.deepEqual(decision.status, { code: 422, reason: 'Invalid', message, causes: mistakes, subject });
  });

  it('refuses an object that has neither kind nor resource', async () => {
    const nameless = podCreation({ resource: undefined, name: 'a', object: {} });
    const decision = await decide(() => ({ mistakes: [{ field: '', message: 'no' }] }), nameless);
    assert.equal(decision.status?.message, 'object "a" is invalid: no');
  });
});
