import assert from 'node:assert/strict';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

describe('what happens while workloads are restarted', () => {
  let fixture: RestartFixture;
  beforeEach(() => {
    fixture = new RestartFixture();
  });
  afterEach(() => fixture.stop());

  const ask = (strategy: object): void => {
    fixture.cluster.edit('revisiontags', 'prod', undefined, (object) => {
      object.spec = { ...(object.spec as object), strategy };
    });
  };

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
    fixture.workload('web', `old.${fixture.hash('old')}`);
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
      await fixture.clock.advance(5 * 60_000);
      await fixture.passOn();
      assert.equal(fixture.status()?.phase, 'Restarting', `${updated} of 500 after ${updated / 20} minutes`);
    }
    await fixture.clock.advance(10 * 60_000);
    await fixture.passOn();
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
    await fixture.clock.advance(3_600_000);
    await fixture.passOn();
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
    fixture.completes('web', `old.${fixture.hash('old')}`);
    await fixture.passUntil(() => fixture.restarts.length > 2);
  });

  describe('when all is done', () => {
    const webhook = 'sidecar-injector-tag-prod';
    /** Sends the webhook of the tag elsewhere; returns where it led. */
    const lead = (to: string): string => {
      let before = '';
      fixture.cluster.edit('mutatingwebhookconfigurations', webhook, undefined, (object) => {
        for (const { clientConfig } of object.webhooks as { clientConfig: { service: { path: string } } }[]) {
          before = clientConfig.service.path;
          clientConfig.service.path = to;
        }
      });
      return before;
    };
    beforeEach(async () => {
      await fixture.begin();
      fixture.workload('web', `old.${fixture.hash('old')}`);
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      await fixture.passOn();
    });

    it('pods are not judged for a while: what is said of that does not stay', async () => {
      const path = lead('/tags/prod/gone/0123abcd/inject');
      await fixture.passOn();
      await fixture.clock.advance(10_000);
      await fixture.passUntil(() => fixture.status()?.phase === 'Waiting');
      lead(path);
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
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
