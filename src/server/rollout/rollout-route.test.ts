import assert from 'node:assert/strict';
import { everyWorkload, noWorkload, rankOf } from '../../routing/workload-key.ts';
import type { AdmissionDecision, AdmissionRequest } from '../admission/admission-decision.ts';
import { revisionRoute } from '../admission/pod-routes.ts';
import { podCreation, somePod } from '../testdata/reviews.ts';
import { rolloutPath, rolloutSource } from '../testdata/rollout-injectors.ts';
import { rolloutRoute } from './rollout-route.ts';

const route = rolloutRoute(rolloutSource);

function decide(path: string, changes: Partial<AdmissionRequest> = {}): AdmissionDecision {
  const resolved = route.resolve(path);
  assert.ok(resolved !== undefined && 'handler' in resolved, path);
  const decision = resolved.handler(podCreation(changes));
  assert.ok(!(decision instanceof Promise));
  return decision;
}

/** Returns a pod with this controller, as the API server sends it. */
function podOf(kind: string, name: string, metadata: Record<string, unknown> = {}): Record<string, unknown> {
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'not-a-controller', uid: 'u' },
    { apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true },
  ];
  return { ...somePod, metadata: { generateName: `${name}-`, ...metadata, ownerReferences } };
}

/** Returns the smallest threshold that includes the rank. */
function after(rank: string): string {
  return (BigInt(`0x${rank}`) + 1n).toString(16).padStart(16, '0');
}

describe('rolloutRoute', () => {
  it('gives every workload the stable configuration at 0 %, and the canary at 100 %', () => {
    for (let index = 0; index < 200; index++) {
      const object = podOf('StatefulSet', `db-${index}`);
      const [none, all] = [noWorkload, everyWorkload].map((threshold) => decide(rolloutPath(threshold), { object }));
      assert.deepEqual([none?.track, none?.injector], ['stable', { name: 'old', hash: '11111111' }]);
      assert.deepEqual([all?.track, all?.injector], ['canary', { name: 'new', hash: '22222222' }]);
    }
  });

  describe('depends only on the workload:', () => {
    const labelled = (label: string): unknown => podOf('ReplicaSet', 'web-6d4f', { labels: { [label]: '6d4f' } });
    const ownerReferences = [{ kind: 'ConfigMap', name: 'c', apiVersion: 'v1' }];
    const cases: [what: string, pod: unknown, kind: string, name: string][] = [
      ['a Deployment', labelled('pod-template-hash'), 'Deployment', 'web'],
      ['a ReplicaSet', podOf('ReplicaSet', 'web-6d4f'), 'ReplicaSet', 'web-6d4f'],
      ['a Rollout', labelled('rollouts-pod-template-hash'), 'Rollout', 'web'],
      ['a StatefulSet', podOf('StatefulSet', 'db'), 'StatefulSet', 'db'],
      ['a DaemonSet', podOf('DaemonSet', 'agent'), 'DaemonSet', 'agent'],
      ['a Job', podOf('Job', 'import'), 'Job', 'import'],
      ['a CronJob', podOf('Job', 'report-28394820'), 'CronJob', 'report'],
      ['a custom kind', podOf('CloneSet', 'game'), 'CloneSet', 'game'],
      ['a bare pod with a generated name', somePod, 'Pod', 'web-6d4f-'],
      ['a bare pod', { ...somePod, metadata: { name: 'one' } }, 'Pod', 'one'],
      ['a pod without a controller', { ...somePod, metadata: { name: 'one', ownerReferences } }, 'Pod', 'one'],
    ];
    for (const [what, object, kind, name] of cases) {
      it(what, () => {
        const rank = rankOf('prod', { namespace: 'shop', kind, name });
        assert.equal(decide(rolloutPath(rank), { object }).track, 'stable');
        assert.equal(decide(rolloutPath(after(rank)), { object }).track, 'canary');
        // No other field of the pod matters. The namespace comes from the request.
        const named = { ...(object as typeof somePod), spec: { containers: [{ name: 'x', image: 'x' }] } };
        assert.equal(decide(rolloutPath(after(rank)), { object: named }).track, 'canary');
        const elsewhere = rankOf('prod', { namespace: 'bank', kind, name });
        assert.equal(decide(rolloutPath(elsewhere), { object, namespace: 'bank' }).track, 'stable');
        assert.equal(decide(rolloutPath(after(elsewhere)), { object, namespace: 'bank' }).track, 'canary');
      });
    }
  });

  it('orders workloads differently for another tag', () => {
    const tracks = ['prod', 'test'].map((tag) =>
      Array.from({ length: 64 }, (_, index) => {
        const path = rolloutPath('8000000000000000').replace('prod', tag);
        return decide(path, { object: podOf('StatefulSet', `db-${index}`) }).track;
      }).join(),
    );
    assert.notEqual(tracks[0], tracks[1]);
  });

  for (const object of [null, 'pod', [], {}, { metadata: 5 }, { metadata: { ownerReferences: 'x', labels: [] } }]) {
    it(`decides about the object ${JSON.stringify(object)}`, () => {
      assert.ok(decide(rolloutPath('8000000000000000'), { object }).track !== undefined);
    });
  }

  it('adds the track to the audit annotations', () => {
    const { auditAnnotations } = decide(rolloutPath(everyWorkload));
    const expected = { revision: 'new', config: '22222222', outcome: 'injected', reason: 'Injected', track: 'canary' };
    assert.deepEqual(auditAnnotations, expected);
  });

  it('gives a pod the same answer as the /revisions path', () => {
    const resolved = revisionRoute(rolloutSource).resolve('/revisions/new/22222222/inject');
    assert.ok(resolved !== undefined && 'handler' in resolved);
    const expected = resolved.handler(podCreation()) as AdmissionDecision;
    assert.deepEqual(decide(rolloutPath(everyWorkload)).patch, expected.patch);
    assert.ok(JSON.stringify(expected.patch).includes('new.22222222'));
  });

  it('gives every workload the stable configuration in shadow, for any threshold', () => {
    for (const threshold of [noWorkload, '8000000000000000', everyWorkload]) {
      assert.equal(decide(rolloutPath(threshold, 'shadow')).injector?.name, 'old');
    }
  });

  it('passes the rest of the path to the injector as the environment', () => {
    const requests: unknown[] = [];
    const skippingRoute = rolloutRoute(rolloutSource, {
      inject: (_, { path }) => {
        requests.push(path);
        return { outcome: 'skipped', reason: 'PolicyDisabled', message: '', warnings: [] };
      },
    });
    for (const way of ['inject', 'shadow'] as const) {
      const resolved = skippingRoute.resolve(`${rolloutPath(noWorkload, way)}/cluster/c 1`);
      assert.ok(resolved !== undefined && 'handler' in resolved);
      void resolved.handler(podCreation());
    }
    assert.deepEqual(requests, ['/inject/cluster/c 1', '/inject/cluster/c 1']);
  });

  for (const [path, missing] of [
    [rolloutPath(noWorkload).replace('11111111', '99999999'), '99999999 of InjectorConfig old'],
    [rolloutPath(noWorkload).replace('22222222', '99999999'), '99999999 of InjectorConfig new'],
    [rolloutPath(noWorkload, 'shadow').replace('new', 'other'), '22222222 of InjectorConfig other'],
    [rolloutPath(everyWorkload).replace('old', 'other'), '11111111 of InjectorConfig other'],
    [rolloutPath(everyWorkload).replace('22222222', 'x'), 'x of InjectorConfig new'],
  ] as const) {
    it(`reports ${path} as unavailable if a configuration is not loaded`, () => {
      const unavailable = `this replica has not loaded configuration ${missing}`;
      assert.deepEqual(route.resolve(path), { unavailable });
    });
  }

  const [start, middle] = ['/tags/prod/old/11111111', '/tags/prod/old/11111111/new/22222222'];
  for (const path of [
    `${start}/inject`,
    `${middle}/inject`,
    `${middle}/800000000000000/inject`,
    `${middle}/80000000000000000/inject`,
    `${middle}/800000000000000G/inject`,
    `${middle}/800000000000000A/inject`,
    `${middle}/8000000000000000`,
    `${middle}/8000000000000000/injected`,
    `${middle}/8000000000000000/shadows`,
    '/tags//old/11111111/new/22222222/8000000000000000/inject',
    '/tags/prod/old//new/22222222/8000000000000000/inject',
    '/revisions/old/11111111/new/22222222/8000000000000000/inject',
    `x${middle}/8000000000000000/inject`,
  ]) {
    it(`does not serve ${path}`, () => {
      assert.equal(route.resolve(path), undefined);
      assert.equal(revisionRoute(rolloutSource).resolve(path) !== undefined, path === `${start}/inject`);
    });
  }

  it('distinguishes a canary named `inject` from the path of a tag without a rollout', () => {
    const source = { get: () => rolloutSource.get('old.11111111') };
    for (const way of ['inject', 'shadow']) {
      const path = `/tags/prod/old/11111111/inject/22222222/8000000000000000/${way}`;
      assert.equal(revisionRoute(source).resolve(path), undefined);
      assert.ok(rolloutRoute(source).resolve(path) !== undefined);
    }
    const environment = '/tags/prod/old/11111111/inject/cluster/8000000000000000';
    assert.ok(revisionRoute(source).resolve(environment) !== undefined);
  });
});
