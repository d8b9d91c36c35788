import assert from 'node:assert/strict';
import { updateAnnotation } from '../../api/revision-tag/update-annotation.ts';
import { bounds } from '../restarts/testdata/restart-fixture.ts';
import { strategy, updateFixture } from './testdata/update-fixture.ts';

/** A window that begins on the second day of the tests. */
const closed = [{ days: ['Tue'], from: '10:00', to: '11:00' }];

describe('updates in place', () => {
  const { fixture, counted, begin, create, become, stored, imageOf, updateOf, running } = updateFixture();
  const names = ['web-0', 'web-1'];
  const set = { kind: 'StatefulSet', name: 'web' };

  it('update one pod after the other, the highest ordinal first, and leave no trace', async () => {
    await begin();
    for (const name of names) create(name, set);
    fixture.complete('web', 'StatefulSet');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-1') === 'proxy:2');
    await fixture.passOn();
    assert.equal(imageOf('web-0'), 'proxy:1', 'one pod at a time');
    assert.deepEqual(fixture.status()?.inPlace, { workloads: 1, byRestart: 0, notCompared: 0 });
    assert.deepEqual([updateOf('web-1')?.tag, fixture.status()?.phase], ['prod', 'Restarting']);
    become('web-1', 1, running());
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    assert.equal(updateOf('web-1'), undefined);
    become('web-0', 1, running());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    const target = `new.${fixture.hash('new')}`;
    for (const name of names) {
      assert.equal(updateOf(name), undefined);
      assert.equal(stored(name)?.metadata.annotations?.['sidecar-injector.io/config'], target);
    }
    assert.deepEqual(fixture.restarts, []);
  });

  it('count those that another tag has begun in the same pass', async () => {
    await begin();
    fixture.namespace('market', 'edge');
    await fixture.tag('edge', 'old', { strategy });
    create('web-0');
    create('web-1', undefined, 'node', 'market');
    for (const tag of ['prod', 'edge']) fixture.setRevision(tag, 'new');
    for (const tag of ['prod', 'edge']) await fixture.reconcileTag(tag);
    const updated = (): number =>
      [imageOf('web-0'), imageOf('web-1', 'market')].filter((image) => image === 'proxy:2').length;
    await fixture.passUntil(() => updated() > 0);
    await fixture.passOn();
    assert.equal(updated(), 1);
  });

  it('use up a budget until the last pod of a workload is done', async () => {
    await begin();
    const more = { ...bounds, maxUnavailableWorkloads: 5, perNamespace: 5, readyTimeout: '1m' };
    fixture.setSpec('prod', { strategy: { ...strategy, restart: more } }, 'revisiontags');
    fixture.cluster.put('poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'all', namespace: 'shop', generation: 1 },
      spec: { selector: {} },
      status: { observedGeneration: 1, disruptionsAllowed: 1 },
    });
    for (const app of ['a', 'b']) {
      create(`${app}-0`, { kind: 'StatefulSet', name: app });
      fixture.complete(app, 'StatefulSet');
    }
    await fixture.move('prod', 'new');
    const updated = (): number => ['a-0', 'b-0'].filter((name) => imageOf(name) === 'proxy:2').length;
    await fixture.passUntil(() => updated() > 0);
    await fixture.passOn();
    assert.equal(updated(), 1);
  });

  it('change no pod of a workload that has a pod on an old kubelet', async () => {
    await begin();
    const daemons = { kind: 'DaemonSet', name: 'web' };
    create('web-1', daemons);
    create('web-0', daemons, 'old');
    fixture.complete('web', 'DaemonSet');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.untouched[0]?.reason === 'NeedsRestart');
    await fixture.passOn();
    assert.deepEqual(
      names.map((each) => imageOf(each)),
      ['proxy:1', 'proxy:1'],
    );
    assert.match(fixture.status()?.inPlace?.obstacle ?? '', /kubelets before 1\.32 do not restart/);
  });

  it('take a bad image back, and stop', async () => {
    await begin();
    for (const name of names) create(name);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => names.some((name) => imageOf(name) === 'proxy:2'));
    const name = names.find((each) => imageOf(each) === 'proxy:2') ?? '';
    become(name, 0, { waiting: { reason: 'ErrImagePull', message: 'not found' } }, 'False');
    await fixture.passUntil(() => imageOf(name) === 'proxy:1');
    become(name, 1, running());
    await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
    await fixture.passOn();
    const { message = '' } = fixture.status() ?? {};
    assert.ok(message.includes(`pod ${name}: proxy with image proxy:2 waits: ErrImagePull`), message);
    assert.deepEqual(
      names.map((each) => imageOf(each)),
      ['proxy:1', 'proxy:1'],
    );
    assert.deepEqual(counted, ['prod failed 1']);
    const annotation = stored(name)?.metadata.annotations?.['sidecar-injector.io/config'];
    assert.equal(annotation, `old.${fixture.hash('old')}`);
    fixture.namespace('shop', 'prod', { 'sidecar-injector.io/updates': 'deny' });
    await fixture.passUntil(() => fixture.status()?.phase !== 'Stopped');
    assert.equal(fixture.status()?.untouched[0]?.reason, 'Denied');
    // Back to the old revision: nothing is stale any more.
    await fixture.move('prod', 'old');
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    await fixture.passUntil(() => updateOf(name) === undefined);
  });

  it('say so, and stop, if the old image is refused', async () => {
    await begin();
    for (const name of names) create(name);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => names.some((name) => imageOf(name) === 'proxy:2'));
    const name = names.find((each) => imageOf(each) === 'proxy:2') ?? '';
    const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes(`/pods/${name}`);
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'denied by a policy', 1);
    become(name, 0, { waiting: { reason: 'ErrImagePull', message: 'not found' } }, 'False');
    await fixture.passUntil(() => updateOf(name)?.failed !== undefined);
    assert.match(updateOf(name)?.failed ?? '', /: not found; its images were not restored: .*denied by a policy/);
    await fixture.passOn();
    assert.equal(fixture.status()?.phase, 'Stopped');
    assert.equal(names.filter((each) => imageOf(each) === 'proxy:2').length, 1);
  });

  it('neither follow nor count records that an author has written', async () => {
    const at = (milliseconds: number): string => new Date(fixture.clock.now().getTime() + milliseconds).toISOString();
    const before = {
      images: { 'containers/web': 'evil' },
      restarts: { 'containers/web': 0 },
      labels: {},
      annotations: {},
    };
    await begin();
    const forged: [name: string, labels: Record<string, string>, at: string][] = [
      ['not-injected', { 'sidecar.istio.io/inject': 'false' }, at(-120_000)],
      ['ahead', {}, at(3_600_000)],
    ];
    for (const [name, labels, time] of forged) {
      create(name, { kind: 'ReplicaSet', name });
      fixture.cluster.edit('pods', name, 'shop', ({ metadata }) => {
        const record = JSON.stringify({ tag: 'prod', target: 'x.00000000', at: time, before });
        Object.assign(metadata, { labels, annotations: { ...metadata.annotations, [updateAnnotation]: record } });
      });
      fixture.observe(name);
    }
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    await fixture.passOn(60_000);
    for (const [name] of forged) assert.ok(!JSON.stringify(stored(name)?.spec).includes('evil'), name);
  });

  it('change no pod of a denied namespace while the namespaces are listed again', async () => {
    await begin();
    fixture.namespace('shop', 'prod', { 'sidecar-injector.io/updates': 'deny' });
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.inPlace?.workloads === 1);
    await fixture.clock.advance(601_000);
    let isListing = false;
    const again = (method: string, path: string): boolean => {
      if (isListing || method !== 'GET' || !path.includes('limitranges')) return false;
      isListing = true;
      fixture.reconcilers.followPods(new AbortController().signal, () => undefined);
      return false;
    };
    fixture.cluster.fail(again, 500, 'InternalError', 'never', 1);
    await fixture.passOn();
    assert.deepEqual([isListing, imageOf('web-0')], [true, 'proxy:1']);
  });

  it('are not delayed by pods whose annotation names both configurations', async () => {
    await begin();
    const forged = Array.from({ length: 10 }, (_, index) => `forged-${index}`);
    for (const name of forged) {
      create(name);
      fixture.cluster.edit('pods', name, 'shop', ({ metadata }) => {
        const entries = ['new', 'old'].map((revision) => `${revision}.${fixture.hash(revision)}`);
        metadata.annotations = { ...metadata.annotations, 'sidecar-injector.io/config': entries.join(',') };
      });
      fixture.observe(name);
    }
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    assert.match(fixture.status()?.inPlace?.obstacle ?? '', /names an earlier configuration of the pod, too/);
  });

  it('are not delayed by many pods that cannot be compared', async () => {
    await begin();
    const refuse = (method: string, path: string): boolean => method === 'GET' && path.includes('shop/limitranges');
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'cannot list limitranges', 1000);
    for (let index = 0; index < 10; index += 1) create(`web-${index}`);
    fixture.namespace('market', 'prod');
    create('last', undefined, 'node', 'market');
    await fixture.move('prod', 'new');
    for (let turn = 0; turn < 10 && imageOf('last', 'market') !== 'proxy:2'; turn += 1) {
      await fixture.clock.advance(61_000);
      await fixture.pass();
    }
    assert.equal(imageOf('last', 'market'), 'proxy:2');
  });

  it('are not stopped by the record of a pod that the tag does not inject', async () => {
    await begin();
    create('web-0');
    create('host');
    const record = { tag: 'prod', target: `new.${fixture.hash('new')}`, at: fixture.clock.now().toISOString() };
    fixture.cluster.edit('pods', 'host', 'shop', (pod) => {
      // Admission does not change a pod with the network of its node.
      pod.spec = { containers: [{ name: 'web', image: 'web' }], hostNetwork: true };
      const forged = JSON.stringify({ ...record, failed: 'x' });
      const annotations = { 'sidecar-injector.io/config': 'x', 'sidecar.istio.io/status': 'x' };
      pod.metadata.annotations = { ...annotations, [updateAnnotation]: forged };
    });
    fixture.observe('host');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
  });

  it('count those of a leader whose clock was ahead', async () => {
    await begin();
    for (const name of names) create(name);
    fixture.cluster.edit('pods', 'web-0', 'shop', ({ metadata }) => {
      const at = new Date(fixture.clock.now().getTime() + 120_000).toISOString();
      const failed = JSON.stringify({ tag: 'prod', target: `new.${fixture.hash('new')}`, at, failed: 'crashes' });
      metadata.annotations = { ...metadata.annotations, [updateAnnotation]: failed };
    });
    fixture.observe('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
    assert.deepEqual(
      names.map((each) => imageOf(each)),
      ['proxy:1', 'proxy:1'],
    );
  });

  it('are completed after the tag stops asking for them', async () => {
    await begin();
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    fixture.setSpec('prod', { strategy: {} }, 'revisiontags');
    await fixture.reconcileTag('prod');
    become('web-0', 1, running());
    await fixture.passUntil(() => updateOf('web-0') === undefined);
    assert.equal(imageOf('web-0'), 'proxy:2');
    assert.deepEqual(counted, ['prod completed 1']);
  });

  for (const restartWorkloads of [false, true]) {
    it(`${restartWorkloads ? 'restart' : 'list'} workloads that need a restart`, async () => {
      await begin({ restartWorkloads });
      create('web-0', set);
      fixture.complete('web', 'StatefulSet');
      await fixture.move('prod', 'env');
      const isOver = (): boolean =>
        restartWorkloads ? fixture.restarts.length > 0 : fixture.status()?.untouched[0]?.reason === 'NeedsRestart';
      await fixture.passUntil(isOver);
      await fixture.passOn();
      assert.equal(imageOf('web-0'), 'proxy:1');
      const { byRestart, obstacle } = fixture.status()?.inPlace ?? {};
      assert.equal(byRestart, 1);
      assert.match(obstacle ?? '', /^shop\/StatefulSet\/web: .*spec\.initContainers\[proxy\]\.env: Kubernetes cannot/);
    });
  }

  it('are continued by the next leader, and wait if the API server refuses them', async () => {
    await begin();
    create('web-0');
    const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/pods/');
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'denied by a policy', 1);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.waiting[0]?.reason === 'Refused');
    await fixture.passOn(60_000);
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    fixture.lead();
    fixture.observe('web-0');
    become('web-0', 1, running());
    await fixture.passUntil(() => updateOf('web-0') === undefined);
  });

  it('try again after a minute if the API server refuses that the record is removed, and report it', async () => {
    await begin();
    create('web-0', { kind: 'CloneSet', name: 'web' });
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    let tries = 0;
    const refuse = (method: string, path: string): boolean => {
      const isRemoval = method === 'PATCH' && path.includes('/pods/web-0');
      tries += Number(isRemoval);
      return isRemoval;
    };
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'denied by a policy', 2);
    become('web-0', 1, running());
    await fixture.passUntil(() => tries === 1);
    for (let second = 0; second < 40; second += 1) await fixture.passOnce(1000);
    assert.equal(tries, 1);
    await fixture.passOn(20_000);
    assert.equal(tries, 2);
    const event = fixture.eventsOfWorkloads().find((each) => each.includes('RestartFailed'));
    assert.match(
      event ?? '',
      /^web-0 RestartFailed: the update for RevisionTag prod .* is retried: .*denied by a policy/,
    );
    await fixture.clock.advance(61_000);
    await fixture.passUntil(() => updateOf('web-0') === undefined);
  });

  it('are followed in each pass while the API server fails, so that a bad image is soon taken back', async () => {
    await begin();
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    let tries = 0;
    const isReadOfPod = (method: string, path: string): boolean => {
      const isRead = method === 'GET' && path.startsWith('/api/v1/namespaces/shop/pods');
      tries += Number(isRead);
      return isRead;
    };
    fixture.cluster.fail(isReadOfPod, 500, 'InternalError', 'etcd is away', 5);
    become('web-0', 0, { waiting: { reason: 'ErrImagePull', message: 'not found' } }, 'False');
    for (let second = 0; second < 5; second += 1) await fixture.passOnce(1000);
    assert.deepEqual([tries, imageOf('web-0')], [5, 'proxy:2']);
    await fixture.passOnce(1000);
    assert.equal(imageOf('web-0'), 'proxy:1');
  });

  it('do not follow a new strategy while the webhook gives the old revision', async () => {
    await begin();
    fixture.setSpec('prod', { strategy: { ...strategy, windows: closed } }, 'revisiontags');
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.inPlace?.workloads === 1);
    fixture.setSpec('prod', { revision: 'old', strategy }, 'revisiontags');
    await fixture.passOn();
    assert.equal(imageOf('web-0'), 'proxy:1');
  });

  it('compare pods rarely outside the windows', async () => {
    await begin();
    fixture.setSpec('prod', { strategy: { ...strategy, windows: closed } }, 'revisiontags');
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.inPlace?.workloads === 1);
    let compared = 0;
    const count = (_: string, path: string): boolean => {
      compared += Number(path.includes('/limitranges'));
      return false;
    };
    fixture.cluster.fail(count, 500, 'InternalError', 'never', 1);
    await fixture.passOn(601_000);
    assert.equal(compared, 0);
    await fixture.passOn(3_000_000);
    assert.equal(compared, 1);
    fixture.setSpec('prod', { strategy }, 'revisiontags');
    await fixture.reconcileTag('prod');
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
  });

  it('wait while the pods cannot be compared, and need no kind that the API server lacks', async () => {
    await begin();
    create('web-0');
    fixture.cluster.fail((method, path) => method === 'GET' && path.includes('/services'), 404, 'NotFound', 'none', 1);
    const refuse = (method: string, path: string): boolean => method === 'GET' && path.includes('/limitranges');
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'cannot list limitranges', 1);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.waiting[0]?.reason === 'NotCompared');
    assert.match(fixture.status()?.waiting[0]?.message ?? '', /cannot be compared .*: .*cannot list limitranges/);
    assert.equal(fixture.status()?.inPlace?.notCompared, 1);
    await fixture.clock.advance(61_000);
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
  });

  it('are not allowed without --update-pods', async () => {
    await begin({ updatePods: false, restartWorkloads: true });
    create('web-0');
    await fixture.passOn();
    assert.match(fixture.status()?.message ?? '', /does not update running pods; start it with --update-pods/);
  });
});
