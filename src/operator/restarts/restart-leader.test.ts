import assert from 'node:assert/strict';
import type { RestartStatus } from '../../api/revision-tag/rollout-status.ts';
import { tagKey } from '../controller/wake-ups.ts';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

const rollbackOnly = { canary: { steps: [{ weight: 100 }] }, rollback: { restart: 'Canary' } };

describe('who restarts workloads', () => {
  let fixture: RestartFixture;
  beforeEach(() => {
    fixture = new RestartFixture();
  });
  afterEach(() => fixture.stop());

  const current = (): string => `old.${fixture.hash('old')}`;

  it('follows workloads and budgets while a tag asks for restarts, and no longer', async () => {
    const asked = (): string[] => {
      const paths = fixture.cluster.server.requests.map(({ path }) => path);
      return paths.filter((path) => path.startsWith('/apis/apps/') || path.startsWith('/apis/policy/'));
    };
    await fixture.begin(rollbackOnly);
    fixture.workload('web');
    await fixture.passOn();
    assert.deepEqual(asked(), [], 'no canary was rolled back');
    assert.equal(fixture.status(), undefined);
    const setStrategy = (strategy: Record<string, unknown>): void => {
      fixture.cluster.edit('revisiontags', 'prod', undefined, (object) => {
        object.spec = { ...(object.spec as object), strategy };
      });
    };
    setStrategy({ restart: bounds });
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const followed = ['deployments', 'statefulsets', 'daemonsets', 'namespaces/shop/deployments/web'];
    const apps = followed.map((path) => `/apis/apps/v1/${path}`);
    assert.deepEqual(new Set(asked()), new Set([...apps, '/apis/policy/v1/poddisruptionbudgets']));
    await fixture.reconcileTag('prod');
    assert.ok(fixture.tagStatus('prod').restarts);

    setStrategy({});
    await fixture.pass();
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagStatus('prod').restarts, undefined);
    assert.equal(fixture.figures.get('prod'), undefined);
    const count = asked().length;
    fixture.cluster.dropWatches();
    await fixture.clock.advance(5000);
    await fixture.passOn();
    assert.equal(asked().length, count);
  });

  it('goes on as a new leader from what stands in the cluster, and does not tell again what the last one told', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '10s' } });
    fixture.workloads('a', 'b');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.clock.advance(10_000);
    await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
    const told = (reason: string): string[] => fixture.events().filter((each) => each.startsWith(`${reason}:`));
    await fixture.until(() => told('RestartsStopped').length > 0);
    assert.match(told('RestartsStopped')[0] ?? '', /shop\/Deployment\/a: restarted/);
    await fixture.reconcileTag('prod');

    fixture.lead();
    fixture.pod('a', 'old.00000000');
    fixture.pod('b', 'old.00000000');
    await fixture.passOn();
    assert.equal(fixture.status()?.phase, 'Stopped');
    assert.deepEqual(fixture.restarts, ['PATCH deployments a']);
    fixture.completes('a', current());
    await fixture.passUntil(() => fixture.restarts.length > 1);
    await fixture.until(() => told('RestartsResumed').length > 0);
    await fixture.passOn();
    assert.equal(told('RestartsStopped').length, 1);
    assert.equal(told('RestartsResumed').length, 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments a', 'PATCH deployments b']);
  });

  it('writes nothing once it has lost its lease', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 2, perNamespace: 2 } });
    fixture.workloads('a', 'b');
    fixture.cluster.faults.push({
      // The lease is lost while the first write is under way.
      matches: (method, path) => {
        if (method === 'PATCH' && path.endsWith('/deployments/a')) fixture.resign();
        return false;
      },
      answer: () => undefined,
    });
    const isTried = (name: string): boolean =>
      fixture.cluster.server.requests.some(({ method, path }) => method === 'PATCH' && path.endsWith(`/${name}`));
    // The write under way ends in what the signal says.
    await fixture.passUntil(() => isTried('a')).catch(() => undefined);
    assert.deepEqual([isTried('a'), isTried('b')], [true, false]);
    assert.equal(fixture.restarted('b'), undefined);
    fixture.cluster.faults.splice(0);
  });
});

describe('restarts that the operator does not do', () => {
  const cases = [
    ['without the flag', { restartWorkloads: false }, /--restart-workloads \(operator\.restartWorkloads: true/],
    ['without the pods', { followPods: false }, /--no-follow-pods, operator\.followPods: false/],
  ] as const;
  for (const [what, settings, says] of cases) {
    it(`says so, ${what}, and counts all the same`, async () => {
      const fixture = new RestartFixture();
      try {
        await fixture.begin(rollbackOnly, settings);
        fixture.workload('web');
        await fixture.passOn();
        await fixture.reconcileTag('prod');
        const { phase, message, stale } = fixture.tagStatus('prod').restarts as RestartStatus;
        assert.deepEqual([phase, stale], ['NotAllowed', 1]);
        assert.match(message, says);
        fixture.pod('web', `old.${fixture.hash('old')}`);
        await fixture.caughtUp();
        fixture.referenceChanges.length = 0;
        await fixture.reconcilers.restarts.pass(new AbortController().signal);
        assert.deepEqual(fixture.referenceChanges, [tagKey('prod')], 'none is stale any more');
        assert.ok(fixture.cluster.server.requests.every(({ path }) => !path.startsWith('/apis/apps/')));
      } finally {
        await fixture.stop();
      }
    });
  }
});
