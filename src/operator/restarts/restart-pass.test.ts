import assert from 'node:assert/strict';
import { failure } from '../../kube/testdata/fake-api-server.ts';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

const rollbackOnly = { canary: { steps: [{ weight: 100 }] }, rollback: { restart: 'Canary' } };

describe('the restarts of a tag', () => {
  let fixture: RestartFixture;
  beforeEach(() => {
    fixture = new RestartFixture();
  });
  afterEach(() => fixture.stop());

  const current = (): string => `old.${fixture.hash('old')}`;

  it('restarts a stale workload by one annotation of its pod template, and says so', async () => {
    await fixture.begin();
    fixture.workload('web');
    const before = fixture.cluster.get('deployments', 'web', 'shop');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const at = new Date(fixture.clock.now()).toISOString();
    const value = `prod ${current()} ${at}`;
    assert.equal(fixture.restarted('web'), value);
    const after = fixture.cluster.get('deployments', 'web', 'shop');
    const { template, ...spec } = after?.spec as { template: { metadata: object } };
    assert.deepEqual(
      { ...spec, template: { ...template, metadata: { labels: { app: 'web' } } } },
      before?.spec,
      'all else is as it was',
    );
    const [request] = fixture.cluster.server.requests.filter(
      ({ method, path }) => method === 'PATCH' && path.endsWith('/web'),
    );
    assert.equal(request?.query.get('fieldManager'), 'sidecar-injector-restarts');
    assert.deepEqual(JSON.parse(request.body), {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: before?.metadata.uid,
        resourceVersion: before?.metadata.resourceVersion,
      },
      spec: { template: { metadata: { annotations: { 'sidecar-injector.io/restarted': value } } } },
    });
    await fixture.until(() => fixture.cluster.names('events').some((name) => name.startsWith('web.')));
    const name = fixture.cluster.names('events').find((each) => each.startsWith('web.')) ?? '';
    const event = fixture.cluster.get('events', name, 'shop');
    assert.deepEqual(
      [event?.reason, event?.note, (event?.regarding as { kind: string }).kind],
      [
        'Restarted',
        `restarted by RevisionTag prod (spec.strategy): its pods had old.00000000 and get ${current()}`,
        'Deployment',
      ],
    );
    assert.deepEqual(
      fixture.counted.filter((each) => each !== 'prod +0'),
      ['prod +1'],
    );
    assert.equal(fixture.counted[0], 'prod +0', 'a counter that begins at its first figure shows no increase');
    const counts = { stale: 1, restarting: 1, waiting: 0, untouched: 0 };
    assert.deepEqual(fixture.figures.get('prod'), { phase: 'Restarting', counts });

    await fixture.reconcileTag('prod');
    const { phase, path, inProgress } = fixture.tagStatus('prod').restarts as Record<string, unknown>;
    assert.deepEqual([phase, path, inProgress], ['Restarting', fixture.tagPath('prod'), 1]);
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    await fixture.reconcileTag('prod');
    assert.deepEqual((fixture.tagStatus('prod').restarts as { stale: number }).stale, 0);
    assert.equal(fixture.restarts.length, 1);
  });

  it('keeps the bounds, one after the other, over all kinds and tags', async () => {
    await fixture.begin();
    await fixture.tag('beta', 'new', { strategy: { restart: bounds } });
    fixture.namespace('beta', 'beta');
    fixture.workload('a');
    fixture.workload('b', undefined, 'StatefulSet');
    fixture.workload('c', 'new.00000000', 'DaemonSet', 'beta');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.passOn();
    // In the order of their names tag beta comes first.
    assert.deepEqual(fixture.restarts, ['PATCH daemonsets c']);
    assert.deepEqual(
      fixture.status('prod')?.waiting.map(({ name, reason }) => `${name} ${reason}`),
      ['a Bound', 'b Bound'],
    );
    fixture.completes('c', `new.${fixture.hash('new')}`, 'DaemonSet', 'beta');
    await fixture.passUntil(() => fixture.restarts.length > 1);
    await fixture.passOn();
    assert.deepEqual(fixture.restarts.slice(1), ['PATCH deployments a']);
    fixture.completes('a', current());
    await fixture.passUntil(() => fixture.restarts.length > 2);
    assert.deepEqual(fixture.restarts.slice(2), ['PATCH statefulsets b']);
  });

  it('writes several at once where the bounds allow it, each seen before the next', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 3, perNamespace: 2 } });
    for (const name of ['a', 'b', 'c']) fixture.workload(name);
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.passOn();
    assert.deepEqual(fixture.restarts, ['PATCH deployments a', 'PATCH deployments b']);
  });

  it('looks anew after some writes, and goes on at once', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 100, perNamespace: 100 } });
    const names = Array.from({ length: 45 }, (_, index) => `work-${index}`);
    for (const name of names) fixture.workload(name);
    const counts: number[] = [];
    await fixture.passUntil(() => {
      const count = fixture.restarts.length;
      if (count > 0 && counts.at(-1) !== count) counts.push(count);
      return count === names.length;
    });
    assert.deepEqual(counts, [20, 40, 45]);
    await fixture.passOn();
    assert.equal(fixture.restarts.length, names.length);
  });

  it('never repeats a restart whose answer was lost', async () => {
    await fixture.begin();
    fixture.workload('web');
    fixture.cluster.faults.push({
      matches: (method, path, body) => {
        if (method !== 'PATCH' || !path.endsWith('/deployments/web')) return false;
        const { spec } = JSON.parse(body) as { spec: { template: { metadata: { annotations: object } } } };
        fixture.cluster.edit('deployments', 'web', 'shop', (object) => {
          Object.assign((object.spec as typeof spec).template.metadata, spec.template.metadata);
        });
        return true;
      },
      answer: (response) => {
        response.destroy();
      },
      times: 1,
    });
    await assert.rejects(fixture.passUntil(() => false));
    const written = fixture.restarted('web');
    assert.ok(written);
    await fixture.passUntil(() => fixture.status()?.phase === 'Restarting');
    await fixture.passOn();
    assert.equal(fixture.restarted('web'), written);
    assert.deepEqual(fixture.restarts, []);
  });

  it('writes onto the version that it has read alone', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 2, perNamespace: 2 } });
    fixture.workload('a');
    fixture.workload('b');
    const conflict = (response: Parameters<typeof failure>[0]): void => {
      failure(response, 409, 'Conflict', 'modified');
    };
    fixture.cluster.faults.push({
      matches: (method, path) => method === 'PATCH' && path.endsWith('/a'),
      answer: conflict,
      times: 1,
    });
    await assert.rejects(
      fixture.passUntil(() => false),
      /modified/,
    );
    assert.deepEqual(fixture.restarts, [], 'the first that fails is the last of a pass');
    await fixture.passUntil(() => fixture.restarts.length === 2);
    assert.deepEqual(fixture.restarts, ['PATCH deployments a', 'PATCH deployments b']);
  });

  it('leaves what the API server refuses for a minute, and goes on with the others', async () => {
    await fixture.begin();
    fixture.workload('a');
    fixture.workload('b');
    let tries = 0;
    fixture.cluster.faults.push({
      matches: (method, path) => method === 'PATCH' && path.endsWith('/deployments/a'),
      answer: (response) => {
        tries += 1;
        failure(response, 403, 'Forbidden', 'policy says no');
      },
    });
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b']);
    const refused = fixture.status()?.waiting.map(({ name, reason, message }) => [name, reason, message]);
    assert.deepEqual(refused, [['a', 'Refused', 'policy says no']]);
    fixture.completes('b', current());
    await fixture.passOn();
    assert.equal(tries, 1);
    fixture.cluster.faults.splice(0);
    await fixture.clock.advance(60_000);
    await fixture.passUntil(() => fixture.restarts.length > 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b', 'PATCH deployments a']);
  });

  it('restarts nothing that replicas could not serve', async () => {
    await fixture.begin();
    fixture.workload('web');
    fixture.reports.missing = ['replica-1'];
    await fixture.passUntil(() => fixture.status()?.phase === 'Waiting');
    await fixture.passOn();
    assert.deepEqual(fixture.restarts, []);
    const [waiting] = fixture.status()?.waiting ?? [];
    assert.equal(waiting?.reason, 'NotServed');
    assert.match(waiting.message, /^configuration old\.[0-9a-f]{8} is not served by replica-1$/);
    fixture.reports.missing = [];
    await fixture.passUntil(() => fixture.restarts.length > 0);
  });

  it('says after a while what keeps it from restarting anything', async () => {
    await fixture.begin();
    fixture.workload('web');
    fixture.cluster.faults.push({
      matches: (_method, path) => path.includes('/poddisruptionbudgets'),
      answer: (response) => {
        failure(response, 403, 'Forbidden', 'no right');
      },
    });
    await fixture.passOn();
    assert.equal(fixture.status(), undefined);
    await fixture.clock.advance(10_000);
    await fixture.passOn();
    const { phase, message } = fixture.status() ?? {};
    assert.equal(phase, 'Waiting');
    assert.match(
      message ?? '',
      /^PodDisruptionBudgets have not been read yet: nothing is restarted; has the operator the right/,
    );
    assert.deepEqual(fixture.restarts, []);
    fixture.cluster.faults.splice(0);
    await fixture.clock.advance(5000);
    await fixture.passUntil(() => fixture.restarts.length > 0);
  });

  it('restarts nothing by judgements that are older than the webhook', async () => {
    await fixture.begin();
    fixture.workload('web');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    // The webhook leads elsewhere, to what this operator does not know.
    fixture.workload('other');
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-tag-prod', undefined, (object) => {
      for (const { clientConfig } of object.webhooks as { clientConfig: { service: { path: string } } }[]) {
        clientConfig.service.path = '/tags/prod/gone/0123abcd/inject';
      }
    });
    await fixture.passOn();
    await fixture.clock.advance(10_000);
    await fixture.passOn();
    assert.equal(fixture.restarts.length, 1);
    assert.match(fixture.status()?.message ?? '', /^its pods are not judged by the webhook that is in force/);
  });

  it('looks at workloads no more once all is done, until a pod is stale', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '1m' } });
    fixture.workload('web');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    let plans = 0;
    fixture.metrics.restarts = () => (plans += 1);
    await fixture.passOn();
    assert.ok(plans > 0, 'its new pods may still crash');
    await fixture.clock.advance(60_000);
    await fixture.passOn();
    plans = 0;
    await fixture.passOn();
    assert.equal(plans, 0);
    assert.equal(fixture.status()?.phase, 'Idle');
    fixture.workload('other');
    await fixture.passUntil(() => fixture.restarts.length > 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments web', 'PATCH deployments other']);
  });

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
    assert.deepEqual(
      new Set(asked()),
      new Set([
        '/apis/apps/v1/deployments',
        '/apis/apps/v1/statefulsets',
        '/apis/apps/v1/daemonsets',
        '/apis/policy/v1/poddisruptionbudgets',
        '/apis/apps/v1/namespaces/shop/deployments/web',
      ]),
    );
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

  it('remembers nothing that a new leader needs, and tells once that restarts stop and go on', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '10s' } });
    fixture.workload('a');
    fixture.workload('b');
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
    fixture.workload('a');
    fixture.workload('b');
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
    {
      what: 'without the flag',
      settings: { restartWorkloads: false },
      says: /--restart-workloads \(operator\.restartWorkloads: true/,
    },
    {
      what: 'without the pods',
      settings: { followPods: false },
      says: /--no-follow-pods, operator\.followPods: false/,
    },
  ];
  for (const { what, settings, says } of cases) {
    it(`says so, ${what}`, async () => {
      const fixture = new RestartFixture();
      try {
        await fixture.begin(rollbackOnly, settings);
        fixture.workload('web');
        await fixture.passOn();
        await fixture.reconcileTag('prod');
        const { phase, message } = fixture.tagStatus('prod').restarts as { phase: string; message: string };
        assert.equal(phase, 'NotAllowed');
        assert.match(message, says);
        assert.ok(fixture.cluster.server.requests.every(({ path }) => !path.startsWith('/apis/apps/')));
      } finally {
        await fixture.stop();
      }
    });
  }
});
