import assert from 'node:assert/strict';
import type { RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import { tagKey } from '../controller/wake-ups.ts';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

const fixture = new RestartFixture();
const rollbackOnly = { canary: { steps: [{ weight: 100 }] }, rollback: { restart: 'Canary' } };
const current = (): string => `old.${fixture.hash('old')}`;
const setStrategy = (strategy: object): void => {
  fixture.setSpec('prod', { strategy }, 'revisiontags');
};
/** Calls a function before the write of Deployment `a`. */
const duringFirstWrite = (act: () => void): void => {
  const matches = (method: string, path: string): boolean => {
    if (method === 'PATCH' && path.endsWith('/deployments/a')) act();
    return false;
  };
  fixture.cluster.faults.push({ matches, answer: () => undefined });
};

describe('while workloads are restarted,', () => {
  afterEach(() => fixture.stop());

  it('the pass ends after one or two more writes if a user removes the strategy', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 9, perNamespace: 9 } });
    fixture.workloads('a', 'b', 'c', 'd', 'e', 'f');
    duringFirstWrite(() => setStrategy({}));
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.passOn();
    // Before the watch event, one more write may begin.
    const { length } = fixture.restarts;
    assert.ok(length <= 3, `${length} of 6 were restarted`);
  });

  it('restarts wait until every API server has the new webhook if the webhook moves', async () => {
    await fixture.begin();
    fixture.workload('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    await fixture.move('prod', 'new');
    const moved = fixture.clock.monotonic();
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const waited = fixture.clock.monotonic() - moved;
    assert.ok(waited >= 5000, `${waited} ms after the move: an API server with the old webhook still admits old pods`);
  });

  it('a large workload is late only if it makes no progress within readyTimeout', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '10m' } });
    fixture.workload('agent', undefined, 'DaemonSet');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    // Five hundred nodes, updated in sequence.
    const nodes = (updated: number): void => {
      fixture.cluster.edit('daemonsets', 'agent', 'shop', (object) => {
        object.status = {
          observedGeneration: object.metadata.generation,
          desiredNumberScheduled: 500,
          updatedNumberScheduled: updated,
          numberAvailable: 499,
        };
      });
    };
    for (const updated of [100, 200, 300]) {
      nodes(updated);
      await fixture.passOn(5 * 60_000);
      assert.equal(fixture.status()?.phase, 'Restarting', `${updated} of 500 after ${updated / 20} minutes`);
    }
    await fixture.passOn(10 * 60_000);
    assert.equal(fixture.status()?.phase, 'Stopped', 'no progress for ten minutes');
  });

  it('each leader restarts a workload once even if a tool always removes the annotation', async () => {
    await fixture.begin();
    fixture.workload('web');
    const revert = (): void => {
      fixture.cluster.edit('deployments', 'web', 'shop', (object) => {
        const { template } = object.spec as { template: { metadata: { annotations?: object } } };
        delete template.metadata.annotations;
      });
    };
    await fixture.passUntil(() => fixture.restarts.length > 0);
    revert();
    fixture.completes('web', 'old.00000000');
    await fixture.passUntil(() => fixture.status()?.untouched[0]?.reason === 'Reverted');
    await fixture.passOn(3_600_000);
    assert.equal(fixture.restarts.length, 1);

    fixture.lead();
    fixture.pod('web', 'old.00000000');
    await fixture.passUntil(() => fixture.restarts.length > 1);
    revert();
    fixture.completes('web', 'old.00000000');
    await fixture.passUntil(() => fixture.status()?.untouched[0]?.reason === 'Reverted');
    await fixture.passOn();
    assert.equal(fixture.restarts.length, 2);
  });

  it('a recreated workload is restarted separately', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '10m' } });
    fixture.workloads('web', 'zoo');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments web']);
    const uid = (): string | undefined => fixture.cluster.get('deployments', 'web', 'shop')?.metadata.uid;
    const before = uid();
    fixture.cluster.remove('deployments', 'web', 'shop');
    fixture.workload('web');
    assert.notEqual(uid(), before);
    await fixture.passUntil(() => fixture.restarts.length > 1);
    assert.deepEqual(fixture.restarts.slice(1), ['PATCH deployments web'], 'to the same target, within the bound');
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.restarts.length > 2);
  });

  describe('after all restarts are complete', () => {
    /** Sets the path of the tag's webhook. */
    const setPath = (to = ''): void => {
      fixture.editWebhooks('tag-prod', ({ clientConfig }) => (clientConfig.service.path = to));
    };
    beforeEach(async () => {
      await fixture.begin();
      fixture.workload('web', current());
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      await fixture.passOn();
    });

    it('nothing is restarted while pods are not judged, and the status reports this', async () => {
      const path = fixture.tagPath('prod');
      setPath('/tags/prod/gone/0123abcd/inject');
      fixture.workload('other');
      await fixture.passOn();
      await fixture.clock.advance(10_000);
      await fixture.passUntil(() => fixture.status()?.phase === 'Waiting');
      assert.match(fixture.status()?.message ?? '', /^no workload is restarted before its pods are compared with/);
      assert.deepEqual(fixture.restarts, []);
      setPath(path);
      await fixture.passUntil(() => fixture.status()?.phase === 'Restarting');
    });

    it('the status returns if a tag drops restarts and then requests them again', async () => {
      await fixture.tag('other', 'old', { strategy: { restart: bounds } });
      await fixture.passUntil(() => fixture.status('other')?.phase === 'Idle');
      setStrategy({});
      await fixture.passUntil(() => fixture.status() === undefined);
      fixture.figures.clear();
      setStrategy({ restart: bounds });
      await fixture.reconcileTag('prod');
      await fixture.passUntil(() => fixture.figures.get('prod') !== undefined);
      assert.equal(fixture.status()?.phase, 'Idle');
    });

    it('ended watches leave no listeners behind', async () => {
      const { waiting } = fixture;
      for (let round = 0; round < 4; round += 1) {
        setStrategy({});
        await fixture.passUntil(() => fixture.status() === undefined);
        setStrategy({ restart: bounds });
        await fixture.reconcileTag('prod');
        await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      }
      assert.equal(fixture.waiting, waiting);
    });
  });
});

describe('the leader', () => {
  afterEach(() => fixture.stop());

  it('watches workloads and budgets only while a tag asks for restarts', async () => {
    const requested = (): string[] => {
      const paths = fixture.cluster.server.requests.map(({ path }) => path);
      return paths.filter((path) => path.startsWith('/apis/apps/') || path.startsWith('/apis/policy/'));
    };
    await fixture.begin(rollbackOnly);
    fixture.workload('web');
    await fixture.passOn();
    assert.deepEqual(requested(), [], 'no canary was rolled back');
    assert.equal(fixture.status(), undefined);
    setStrategy({ restart: bounds });
    await fixture.reconcileTag('prod');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const followed = ['deployments', 'statefulsets', 'daemonsets', 'namespaces/shop/deployments/web'];
    const apps = followed.map((path) => `/apis/apps/v1/${path}`);
    assert.deepEqual(new Set(requested()), new Set([...apps, '/apis/policy/v1/poddisruptionbudgets']));
    await fixture.reconcileTag('prod');
    assert.ok(fixture.tagStatus('prod').restarts);

    setStrategy({});
    await fixture.pass();
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagStatus('prod').restarts, undefined);
    assert.equal(fixture.figures.get('prod'), undefined);
    const count = requested().length;
    fixture.cluster.dropWatches();
    await fixture.passOn(5000);
    assert.equal(requested().length, count);
  });

  it('continues after a leader change, and does not repeat Events of the previous leader', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '10s' } });
    fixture.workloads('a', 'b');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.clock.advance(10_000);
    await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
    const events = (reason: string): string[] => fixture.events().filter((each) => each.startsWith(`${reason}:`));
    await fixture.until(() => events('RestartsStopped').length > 0);
    assert.match(events('RestartsStopped')[0] ?? '', /shop\/Deployment\/a: restarted/);
    await fixture.reconcileTag('prod');

    fixture.lead();
    fixture.pod('a', 'old.00000000');
    fixture.pod('b', 'old.00000000');
    await fixture.passOn();
    assert.equal(fixture.status()?.phase, 'Stopped');
    assert.deepEqual(fixture.restarts, ['PATCH deployments a']);
    fixture.completes('a', current());
    await fixture.passUntil(() => fixture.restarts.length > 1);
    await fixture.until(() => events('RestartsResumed').length > 0);
    await fixture.passOn();
    assert.equal(events('RestartsStopped').length, 1);
    assert.equal(events('RestartsResumed').length, 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments a', 'PATCH deployments b']);
  });

  it('writes nothing once it has lost its lease', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 2, perNamespace: 2 } });
    fixture.workloads('a', 'b');
    duringFirstWrite(() => fixture.resign());
    const isTried = (name: string): boolean =>
      fixture.cluster.server.requests.some(({ method, path }) => method === 'PATCH' && path.endsWith(`/${name}`));
    // The first write rejects with the reason of the signal.
    await fixture.passUntil(() => isTried('a')).catch(() => undefined);
    assert.deepEqual([isTried('a'), isTried('b')], [true, false]);
    assert.equal(fixture.restarted('b'), undefined);
    fixture.cluster.faults.splice(0);
  });

  for (const [what, settings, expected] of [
    ['without --restart-workloads', { restartWorkloads: false }, /--restart-workloads \(operator\.restartWorkloads/],
    ['with --no-follow-pods', { followPods: false }, /--no-follow-pods, operator\.followPods: false/],
  ] as const) {
    it(`restarts nothing ${what}, but reports the reason and counts stale workloads`, async () => {
      await fixture.begin(rollbackOnly, settings);
      fixture.workload('web');
      await fixture.passOn();
      await fixture.reconcileTag('prod');
      const { phase, message, stale } = fixture.tagStatus('prod').restarts as RestartStatus;
      assert.deepEqual([phase, stale], ['NotAllowed', 1]);
      assert.match(message, expected);
      fixture.pod('web', current());
      await fixture.caughtUp();
      fixture.referenceChanges.length = 0;
      await fixture.reconcilers.restarts.pass(new AbortController().signal);
      assert.deepEqual(fixture.referenceChanges, [tagKey('prod')], 'no workload is stale now');
      assert.ok(fixture.cluster.server.requests.every(({ path }) => !path.startsWith('/apis/apps/')));
    });
  }
});
