import assert from 'node:assert/strict';
import type { AdmissionDecision, AdmissionRequest } from './admission-decision.ts';
import type { AdmissionRoute } from './admission-handler.ts';
import { withPathProbe } from './path-probe-route.ts';
import { podCreation } from '../testdata/reviews.ts';

const path = '/revisions/blue/0123abcd/inject';
const ordinary: AdmissionDecision = { outcome: 'allowed', reason: 'Ordinary', allowed: true };
const dependencies = (): readonly unknown[] => [];
const route: AdmissionRoute = {
  kind: 'revision',
  resolve: (requested) => {
    if (requested === '/gone') return { unavailable: 'not here' };
    return requested === '/other' ? undefined : { handler: () => ordinary, dependencies };
  },
};
const name = 'sidecar-injector-probe-blue';
const probe = podCreation({ resource: 'configmaps', name, dryRun: true, object: { data: { nonce: 'n-1' } } });

async function decide(request: AdmissionRequest, requested = path): Promise<AdmissionDecision> {
  const target = withPathProbe(route, 'replica-1').resolve(requested);
  assert.ok(target !== undefined && 'handler' in target);
  assert.equal(target.dependencies, dependencies);
  return target.handler(request);
}

describe('withPathProbe', () => {
  it('returns the nonce, the replica and the configuration', async () => {
    assert.deepEqual(await decide(probe), {
      outcome: 'allowed',
      reason: 'PathProbe',
      allowed: true,
      warnings: [],
      patch: [
        { op: 'add', path: '/data/answer', value: 'n-1' },
        { op: 'add', path: '/data/replica', value: 'replica-1' },
        { op: 'add', path: '/data/configuration', value: '0123abcd' },
      ],
      injector: { name: 'blue', hash: '0123abcd' },
    });
  });

  it("distinguishes a tag's probe webhook from its InjectorConfig's probe webhook", async () => {
    const byTag = '/tags/prod/blue/0123abcd/inject';
    const tagProbe = { ...probe, name: 'sidecar-injector-probe-tag-prod' };
    const { reason, injector } = await decide(tagProbe, byTag);
    assert.deepEqual([reason, injector], ['PathProbe', { name: 'blue', hash: '0123abcd' }]);
    assert.equal(await decide(probe, byTag), ordinary);
    for (const way of ['inject', 'shadow']) {
      const inRollout = `/tags/prod/blue/0123abcd/green/4567cdef/8000000000000000/${way}`;
      assert.deepEqual((await decide(tagProbe, inRollout)).injector, { name: 'blue', hash: '0123abcd' });
      assert.equal(await decide({ ...probe, name: 'sidecar-injector-probe-green' }, inRollout), ordinary);
    }
    assert.equal(await decide(tagProbe), ordinary);
  });

  const others: [what: string, request: Partial<AdmissionRequest>][] = [
    ['a pod', { resource: 'pods' }],
    ['a request that is not a dry run', { dryRun: false }],
    ['an UPDATE', { operation: 'UPDATE' }],
    ['the ConfigMap of another revision', { name: 'sidecar-injector-probe-green' }],
    ['a ConfigMap without data', { object: {} }],
    ['a ConfigMap without a nonce', { object: { data: {} } }],
    ['a request without an object', { object: null }],
  ];
  for (const [what, difference] of others) {
    it(`passes ${what} to the route`, async () => {
      assert.equal(await decide({ ...probe, ...difference }), ordinary);
    });
  }

  it('passes paths of another form to the route, and returns unavailable targets', async () => {
    assert.equal(await decide(probe, '/revisions/blue/0123abcd/inject/cluster/c1'), ordinary);
    assert.deepEqual(withPathProbe(route, 'r').resolve('/gone'), { unavailable: 'not here' });
    assert.equal(withPathProbe(route, 'r').resolve('/other'), undefined);
    assert.equal(withPathProbe(route, 'r').kind, 'revision');
  });
});
