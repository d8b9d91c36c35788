import assert from 'node:assert/strict';
import type { RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import { tagKey } from '../controller/wake-ups.ts';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

const fixture = new RestartFixture();
const rollbackOnly = { canary: { steps: [{ weight: 100 }] }, rollback: { restart: 'Canary' } };
const current = (): string => `old.${fixture.hash('old')}`;
const ask = (strategy: object): void => {
  fixture.setSpec('prod', { strategy }, 'revisiontags');
};

describe('what happens while workloads are restarted', () => {
  afterEach(() => fixture.stop());

  it('somebody takes the wish back: the pass ends within a write or two', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 9, perNamespace: 9 } });
    fixture.workloads('a', 'b', 'c', 'd', 'e', 'f');
    fixture.cluster.faults.push({
      matches: (method, path) => {
        if (method === 'PATCH' && path.endsWith('/deployments/a')) ask({});
        return false;
      },
      answer: () => undefined,
    });
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.passOn();
    // The watch tells of it in a moment: one more may have begun.
    const { length } = fixture.restarts;
    assert.ok(length <= 3, `${length} of 6 were restarted all the same`);
  });

  it('the webhook moves: they begin when every API server can know of it', async () => {
    await fixture.begin();
    fixture.workload('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    await fixture.move('prod', 'new');
    const moved = fixture.clock.monotonic();
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const waited = fixture.clock.monotonic() - moved;
    assert.ok(waited >= 5000, `${waited} ms after the move: an API server that is behind makes the pods as before`);
  });

  it('one takes long: it is late when it makes no progress, however long all of it takes', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '10m' } });
    fixture.workload('agent', undefined, 'DaemonSet');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    // Five hundred nodes, one after the other.
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
    assert.equal(fixture.status()?.phase, 'Stopped', 'and no further for ten minutes');
  });

  it('a tool takes the annotation away each time: it is restarted once, and once more by a new leader', async () => {
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

  it('a workload is deleted and made anew under its name: it is another one, and is restarted by itself', async () => {
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
    assert.deepEqual(fixture.restarts.slice(1), ['PATCH deployments web'], 'for the same target, and within the bound');
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.restarts.length > 2);
  });

  describe('when all is done', () => {
    /** Sends the webhook of the tag elsewhere. */
    const lead = (to = ''): void => {
      fixture.editWebhooks('tag-prod', ({ clientConfig }) => (clientConfig.service.path = to));
    };
    beforeEach(async () => {
      await fixture.begin();
      fixture.workload('web', current());
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      await fixture.passOn();
    });

    it('pods are not judged for a while: nothing is restarted, and what is said of that does not stay', async () => {
      const path = fixture.tagPath('prod');
      lead('/tags/prod/gone/0123abcd/inject');
      fixture.workload('other');
      await fixture.passOn();
      await fixture.clock.advance(10_000);
      await fixture.passUntil(() => fixture.status()?.phase === 'Waiting');
      assert.match(fixture.status()?.message ?? '', /^its pods are not judged by the webhook that is in force/);
      assert.deepEqual(fixture.restarts, []);
      lead(path);
      await fixture.passUntil(() => fixture.status()?.phase === 'Restarting');
    });

    it('a tag asks no more, and asks again: it is told how that stands', async () => {
      await fixture.tag('other', 'old', { strategy: { restart: bounds } });
      await fixture.passUntil(() => fixture.status('other')?.phase === 'Idle');
      ask({});
      await fixture.passUntil(() => fixture.status() === undefined);
      fixture.figures.clear();
      ask({ restart: bounds });
      await fixture.passUntil(() => fixture.figures.get('prod') !== undefined);
      assert.equal(fixture.status()?.phase, 'Idle');
    });

    it('nothing stays of what was followed each time', async () => {
      const { waiting } = fixture;
      for (let round = 0; round < 4; round += 1) {
        ask({});
        await fixture.passUntil(() => fixture.status() === undefined);
        ask({ restart: bounds });
        await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      }
      assert.equal(fixture.waiting, waiting);
    });
  });
});

describe('who restarts workloads', () => {
  afterEach(() => fixture.stop());

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
    ask({ restart: bounds });
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const followed = ['deployments', 'statefulsets', 'daemonsets', 'namespaces/shop/deployments/web'];
    const apps = followed.map((path) => `/apis/apps/v1/${path}`);
    assert.deepEqual(new Set(asked()), new Set([...apps, '/apis/policy/v1/poddisruptionbudgets']));
    await fixture.reconcileTag('prod');
    assert.ok(fixture.tagStatus('prod').restarts);

    ask({});
    await fixture.pass();
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagStatus('prod').restarts, undefined);
    assert.equal(fixture.figures.get('prod'), undefined);
    const count = asked().length;
    fixture.cluster.dropWatches();
    await fixture.passOn(5000);
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

  for (const [what, settings, says] of [
    ['without the flag', { restartWorkloads: false }, /--restart-workloads \(operator\.restartWorkloads: true/],
    ['without the pods', { followPods: false }, /--no-follow-pods, operator\.followPods: false/],
  ] as const) {
    it(`is nobody ${what}, which is said, and counts all the same`, async () => {
      await fixture.begin(rollbackOnly, settings);
      fixture.workload('web');
      await fixture.passOn();
      await fixture.reconcileTag('prod');
      const { phase, message, stale } = fixture.tagStatus('prod').restarts as RestartStatus;
      assert.deepEqual([phase, stale], ['NotAllowed', 1]);
      assert.match(message, says);
      fixture.pod('web', current());
      await fixture.caughtUp();
      fixture.referenceChanges.length = 0;
      await fixture.reconcilers.restarts.pass(new AbortController().signal);
      assert.deepEqual(fixture.referenceChanges, [tagKey('prod')], 'none is stale any more');
      assert.ok(fixture.cluster.server.requests.every(({ path }) => !path.startsWith('/apis/apps/')));
    });
  }
});
