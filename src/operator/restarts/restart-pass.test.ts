import assert from 'node:assert/strict';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

describe('the restart pass', () => {
  const fixture = new RestartFixture();
  afterEach(() => fixture.stop());

  const current = (): string => `old.${fixture.hash('old')}`;

  it('annotates the pod template of a stale workload, and reports the restart', async () => {
    await fixture.begin();
    fixture.workload('web');
    const before = fixture.cluster.get('deployments', 'web', 'shop');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const at = new Date(fixture.clock.now()).toISOString();
    const value = `prod ${current()} ${at}`;
    assert.equal(fixture.restarted('web'), value);
    const after = fixture.cluster.get('deployments', 'web', 'shop');
    const { template, ...spec } = after?.spec as { template: { metadata: object } };
    const without = { ...template, metadata: { labels: { app: 'web' } } };
    assert.deepEqual({ ...spec, template: without }, before?.spec, 'no other field has changed');
    const { requests } = fixture.cluster.server;
    const [request] = requests.filter(({ method, path }) => method === 'PATCH' && path.endsWith('/web'));
    assert.equal(request?.query.get('fieldManager'), 'sidecar-injector-restarts');
    const { uid, resourceVersion } = before?.metadata ?? {};
    assert.deepEqual(JSON.parse(request.body), {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', uid, resourceVersion },
      spec: { template: { metadata: { annotations: { 'sidecar-injector.io/restarted': value } } } },
    });
    await fixture.until(() => fixture.cluster.names('events').some((name) => name.startsWith('web.')));
    const name = fixture.cluster.names('events').find((each) => each.startsWith('web.')) ?? '';
    const event = fixture.cluster.get('events', name, 'shop');
    assert.deepEqual([event?.reason, (event?.regarding as { kind: string }).kind], ['Restarted', 'Deployment']);
    const note = `restarted by RevisionTag prod (spec.strategy): its pods had old.00000000 and get ${current()}`;
    assert.equal(event?.note, note);
    const restarted = fixture.counted.filter((each) => each !== 'prod +0');
    assert.deepEqual(restarted, ['prod +1']);
    assert.equal(fixture.counted[0], 'prod +0', 'the counter starts at 0, so that the first increase is visible');
    const counts = { stale: 1, restarting: 1, waiting: 0, failing: 0, untouched: 0 };
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

  it('restarts workloads with pods without a sidecar only if the tag asks for it', async () => {
    await fixture.begin();
    const selected = { web: {}, 'opted-out': { 'sidecar.istio.io/inject': 'false' } };
    for (const [app, labels] of Object.entries(selected)) {
      fixture.complete(app);
      const [name, owner] = [
        `${app}-0`,
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-5d9c7bbbf4`, uid: app },
      ];
      const hash = { 'pod-template-hash': '5d9c7bbbf4' };
      const metadata = {
        name,
        namespace: 'shop',
        labels: { app, ...hash, ...labels },
        ownerReferences: [{ ...owner, controller: true }],
      };
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      fixture.cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] }, status });
      fixture.observe(name);
    }
    await fixture.passOn();
    assert.deepEqual([fixture.restarts, fixture.status()?.missing], [[], undefined]);
    fixture.setSpec('prod', { strategy: { restart: { ...bounds, missing: true } } }, 'revisiontags');
    await fixture.reconcileTag('prod');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    const { stale, missing, inProgress } = fixture.status() ?? {};
    assert.deepEqual([stale, missing, inProgress], [1, 1, 1]);
    await fixture.until(() =>
      fixture.eventsOfWorkloads().some((each) => /its pods had no sidecar and get old/.test(each)),
    );
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    await fixture.passOn();
    assert.deepEqual([fixture.status()?.missing, fixture.restarts.length], [0, 1]);
  });

  it('applies the bounds to all kinds and tags together', async () => {
    await fixture.begin();
    await fixture.tag('beta', 'new', { strategy: { restart: bounds } });
    fixture.namespace('beta', 'beta');
    fixture.workload('a');
    fixture.workload('b', undefined, 'StatefulSet');
    fixture.workload('c', 'new.00000000', 'DaemonSet', 'beta');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.passOn();
    // Tags are handled in the order of their names: beta comes first.
    assert.deepEqual(fixture.restarts, ['PATCH daemonsets c']);
    const waiting = fixture.status('prod')?.waiting.map(({ name, reason }) => `${name} ${reason}`);
    assert.deepEqual(waiting, ['a Bound', 'b Bound']);
    fixture.completes('c', `new.${fixture.hash('new')}`, 'DaemonSet', 'beta');
    await fixture.passUntil(() => fixture.restarts.length > 1);
    await fixture.passOn();
    assert.deepEqual(fixture.restarts.slice(1), ['PATCH deployments a']);
    fixture.completes('a', current());
    await fixture.passUntil(() => fixture.restarts.length > 2);
    assert.deepEqual(fixture.restarts.slice(2), ['PATCH statefulsets b']);
  });

  it('lets namespaces take turns, also if a write fails', async () => {
    await fixture.begin();
    fixture.namespace('author', 'prod');
    for (const name of ['a', 'b', 'c']) fixture.workload(name, undefined, undefined, 'author');
    fixture.workload('web');
    fixture.cluster.fail((method, path) => method === 'PATCH' && /author.*deployments/.test(path), 422, 'Invalid', 'x');
    await fixture.passUntil(() => fixture.restarted('web') !== undefined);
    const sent = fixture.cluster.server.requests.filter(
      ({ method, path }) => method === 'PATCH' && /deployments/.test(path),
    );
    assert.deepEqual(
      sent.map(({ path }) => path.replace(/.*namespaces/, '')),
      ['/author/deployments/a', '/shop/deployments/web'],
    );
  });

  it('restarts workloads up to the bounds in one pass', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 3, perNamespace: 2 } });
    fixture.workloads('a', 'b', 'c');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    await fixture.passOn();
    assert.deepEqual(fixture.restarts, ['PATCH deployments a', 'PATCH deployments b']);
  });

  it('plans again immediately after the maximum number of writes', async () => {
    await fixture.begin({ restart: { ...bounds, maxUnavailableWorkloads: 100, perNamespace: 100 } });
    const names = Array.from({ length: 45 }, (_, index) => `work-${index}`);
    fixture.workloads(...names);
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

  it('restarts no workload if a replica does not serve its new configuration', async () => {
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

  it('restarts no workload outside the windows of the tag, and says when the next one begins', async () => {
    const now = new Date(Math.ceil(fixture.clock.now().getTime() / 60_000) * 60_000);
    const time = (minutes: number): string => new Date(now.getTime() + minutes * 60_000).toISOString().slice(11, 16);
    await fixture.begin({ restart: bounds, windows: [{ from: time(30), to: time(60) }] });
    fixture.workload('web');
    await fixture.passUntil(() => fixture.status()?.waiting[0]?.reason === 'Window');
    await fixture.passOn();
    assert.deepEqual(fixture.restarts, []);
    const { phase, message = '' } = fixture.status() ?? {};
    assert.equal(phase, 'Waiting');
    const opensAt = new Date(now.getTime() + 30 * 60_000).toISOString().replace('.000Z', 'Z');
    assert.ok(message.startsWith('1 waiting; shop/Deployment/web: it is outside the windows'), message);
    assert.ok(message.endsWith(` begins at ${opensAt}`), message);
    await fixture.passOn(30 * 60_000);
    await fixture.passUntil(() => fixture.restarts.length > 0);
  });

  it('restarts no workload of a namespace that denies updates, until it allows them', async () => {
    await fixture.begin();
    fixture.namespace('shop', 'prod', { 'sidecar-injector.io/updates': 'deny' });
    fixture.workload('web');
    await fixture.passUntil(() => fixture.status()?.untouched[0]?.reason === 'Denied');
    await fixture.passOn();
    assert.deepEqual(fixture.restarts, []);
    fixture.namespace('shop', 'prod', { 'sidecar-injector.io/updates': 'allow' });
    await fixture.passUntil(() => fixture.restarts.length > 0);
  });

  it('reports after 10 s what blocks all restarts', async () => {
    await fixture.begin();
    fixture.workload('web');
    fixture.cluster.fail((_, path) => path.includes('/poddisruptionbudgets'), 403, 'Forbidden', 'no right');
    await fixture.passOn();
    assert.equal(fixture.status(), undefined);
    await fixture.passOn(10_000);
    const { phase, message } = fixture.status() ?? {};
    assert.equal(phase, 'Waiting');
    assert.match(message ?? '', /^no workload is restarted before PodDisruptionBudgets have been listed; check that/);
    assert.deepEqual(fixture.restarts, []);
    fixture.cluster.faults.splice(0);
    await fixture.clock.advance(5000);
    await fixture.passUntil(() => fixture.restarts.length > 0);
  });

  it('stops planning when all workloads are done, until a pod becomes stale', async () => {
    await fixture.begin({ restart: { ...bounds, readyTimeout: '1m' } });
    fixture.workload('web');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    let plans = 0;
    fixture.metrics.restarts = () => (plans += 1);
    await fixture.passOn();
    assert.ok(plans > 0, 'its new pods may still crash');
    await fixture.passOn(60_000);
    plans = 0;
    await fixture.passOn();
    assert.equal(plans, 0);
    assert.equal(fixture.status()?.phase, 'Idle');
    fixture.workload('other');
    await fixture.passUntil(() => fixture.restarts.length > 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments web', 'PATCH deployments other']);
  });
});
