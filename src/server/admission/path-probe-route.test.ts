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
  resolve: (asked) => {
    if (asked === '/gone') return { unavailable: 'not here' };
    return asked === '/other' ? undefined : { handler: () => ordinary, dependencies };
  },
};
const name = 'sidecar-injector-probe-blue';
const probe = podCreation({ resource: 'configmaps', name, dryRun: true, object: { data: { nonce: 'n-1' } } });

async function decide(request: AdmissionRequest, asked = path): Promise<AdmissionDecision> {
  const target = withPathProbe(route, 'replica-1').resolve(asked);
  assert.ok(target !== undefined && 'handler' in target);
  assert.equal(target.dependencies, dependencies);
  return target.handler(request);
}

describe('withPathProbe', () => {
  it('gives the nonce back with the replica and the configuration', async () => {
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

  it('tells the twin of a tag from that of the InjectorConfig where it leads', async () => {
    const byTag = '/tags/prod/blue/0123abcd/inject';
    const twin = { ...probe, name: 'sidecar-injector-probe-tag-prod' };
    const { reason, injector } = await decide(twin, byTag);
    assert.deepEqual([reason, injector], ['PathProbe', { name: 'blue', hash: '0123abcd' }]);
    assert.equal(await decide(probe, byTag), ordinary);
    for (const way of ['inject', 'shadow']) {
      const inRollout = `/tags/prod/blue/0123abcd/green/4567cdef/8000000000000000/${way}`;
      assert.deepEqual((await decide(twin, inRollout)).injector, { name: 'blue', hash: '0123abcd' });
      assert.equal(await decide({ ...probe, name: 'sidecar-injector-probe-green' }, inRollout), ordinary);
    }
    assert.equal(await decide(twin), ordinary);
  });

  const others: [what: string, request: Partial<AdmissionRequest>][] = [
    ['a pod', { resource: 'pods' }],
    ['a ConfigMap that would be stored', { dryRun: false }],
    ['an update', { operation: 'UPDATE' }],
    ['the ConfigMap of another revision', { name: 'sidecar-injector-probe-green' }],
    ['a ConfigMap without data', { object: {} }],
    ['a ConfigMap without a nonce', { object: { data: {} } }],
    ['no object', { object: null }],
  ];
  for (const [what, difference] of others) {
    it(`leaves ${what} to the route`, async () => {
      assert.equal(await decide({ ...probe, ...difference }), ordinary);
    });
  }

  it('leaves paths of another shape to the route, and passes on what is not served', async () => {
    assert.equal(await decide(probe, '/revisions/blue/0123abcd/inject/cluster/c1'), ordinary);
    assert.deepEqual(withPathProbe(route, 'r').resolve('/gone'), { unavailable: 'not here' });
    assert.equal(withPathProbe(route, 'r').resolve('/other'), undefined);
    assert.equal(withPathProbe(route, 'r').kind, 'revision');
  });
});
