import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { prepullLabel } from '../../api/names.ts';
import { filesOf } from '../../api/injector-config/configuration-files.ts';
import { parsePodUpdate, updateAnnotation } from '../../api/revision-tag/update-annotation.ts';
import { containerDefaults } from '../../explain/pod-resources.ts';
import { predictPod } from '../../explain/predict-pod.ts';
import { loadInjector } from '../../inject/injector.ts';
import { bounds, RestartFixture } from '../restarts/testdata/restart-fixture.ts';

/** A template with a native sidecar. */
const template = (image: string, more = ''): Record<string, unknown> => ({
  injection: {
    templates: { sidecar: `spec: {initContainers: [{name: proxy, image: "${image}", restartPolicy: Always${more}}]}` },
    nativeSidecars: 'Enabled',
  },
});
const allowed = { updatePods: true, restartWorkloads: false };
const strategy = { update: 'InPlace', restart: { ...bounds, readyTimeout: '1m' } };

/** A window that begins on the second day of the tests. */
const closed = [{ days: ['Tue'], from: '10:00', to: '11:00' }];

describe('updates in place', () => {
  const fixture = new RestartFixture();
  afterEach(() => fixture.stop());

  /** What the metric of updates counts. */
  const counted: string[] = [];

  /** Installs revisions `old`, `new` and `env`, and tag `prod` at `old`. */
  async function begin(settings: object = {}, cpu: Partial<Record<'old' | 'new', string>> = {}): Promise<void> {
    const requests = (revision: 'old' | 'new'): string =>
      cpu[revision] === undefined ? '' : `, resources: {requests: {cpu: ${cpu[revision]}}}`;
    counted.length = 0;
    fixture.metrics.podsUpdated = (tag, result, pods) => {
      if (pods > 0) counted.push(`${tag} ${result} ${pods}`);
    };
    await fixture.begin(strategy, { ...allowed, ...settings });
    await fixture.edit('old', template('proxy:1', requests('old')), 'prod');
    await fixture.edit('new', template('proxy:2', requests('new')));
    await fixture.install('env', template('proxy:2', ', env: [{name: A, value: b}]'));
    await fixture.later(5000, 'old');
    await fixture.reconcileTag('prod');
    for (const [node, kubeletVersion] of Object.entries({ node: 'v1.36.0', old: 'v1.31.14' })) {
      const status = { nodeInfo: { kubeletVersion, operatingSystem: 'linux' } };
      fixture.cluster.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node }, status });
    }
  }

  /** Creates a ready pod that revision `old` has injected. */
  function create(name: string, owner?: { kind: string; name: string }, nodeName = 'node', namespace = 'shop'): void {
    const hash = fixture.hash('old');
    const configMap = fixture.cluster.get('configmaps', `sidecar-injector-old-${hash}`, 'injection');
    const files = configMap && filesOf(configMap);
    assert.ok(files !== undefined);
    const metadata = {
      name,
      namespace,
      labels: { app: name },
      ...(owner && { ownerReferences: [{ apiVersion: 'apps/v1', controller: true, uid: owner.name, ...owner }] }),
    };
    const bare = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const context = { request: { namespace, path: '/inject' }, containerDefaults: containerDefaults([]) };
    const named = { name: 'old', hash, injector: loadInjector(files) };
    const { pod, message } = predictPod(bare, named, context);
    assert.ok(pod !== undefined, message);
    const injected = pod as unknown as KubernetesObject;
    fixture.cluster.put('pods', { ...injected, spec: { ...(injected.spec as object), nodeName } });
    become(name, 0, {}, 'True', { namespace });
  }

  /** Sets the status of the sidecar, as a kubelet does. */
  function become(name: string, restartCount: number, state: object, ready = 'True', more: Reported = {}): void {
    const { conditions = [], resources, namespace = 'shop' } = more;
    fixture.cluster.edit('pods', name, namespace, (pod) => {
      const lastTransitionTime = new Date(0).toISOString();
      pod.status = {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: ready, lastTransitionTime }, ...conditions],
        initContainerStatuses: [{ name: 'proxy', restartCount, state, ...(resources && { resources }) }],
      };
    });
    fixture.observe(name, namespace);
  }

  /** What a kubelet says about a resize, and the namespace of the pod. */
  interface Reported {
    readonly conditions?: readonly object[];
    readonly resources?: object;
    readonly namespace?: string;
  }

  const stored = (name: string, namespace = 'shop') => fixture.cluster.get('pods', name, namespace);
  const imageOf = (name: string, namespace?: string): string | undefined =>
    (stored(name, namespace)?.spec as { initContainers?: { image: string }[] } | undefined)?.initContainers?.[0]?.image;
  const cpuOf = (name: string): string | undefined =>
    (stored(name)?.spec as { initContainers?: { resources?: { requests?: { cpu?: string } } }[] } | undefined)
      ?.initContainers?.[0]?.resources?.requests?.cpu;
  const updateOf = (name: string) => parsePodUpdate(stored(name)?.metadata.annotations?.[updateAnnotation]);
  const running = () => ({ running: { startedAt: fixture.clock.now().toISOString() } });
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

  describe('with a resize', () => {
    const cpu = { old: '100m', new: '200m' };
    const given = (amount: string): Reported => ({ resources: { requests: { cpu: amount } } });
    const said = (type: string, reason: string, message: string): Reported => ({
      ...given('100m'),
      conditions: [{ type, status: 'True', reason, message }],
    });

    /** Moves the tag, until the sidecar of a pod has the CPU of the new revision. */
    async function beginResize(): Promise<void> {
      await begin({}, cpu);
      create('web-0');
      await fixture.move('prod', 'new');
      await fixture.passUntil(() => updateOf('web-0')?.resizing === true);
      next();
      await fixture.passUntil(() => cpuOf('web-0') === '200m');
      next();
    }

    /** Another process leads. */
    function next(): void {
      fixture.lead();
      fixture.observe('web-0');
    }

    it('write nothing else until it is in effect, also under the next leader', async () => {
      await beginResize();
      become('web-0', 0, running(), 'True', said('PodResizeInProgress', '', ''));
      await fixture.passOn();
      assert.equal(imageOf('web-0'), 'proxy:1');
      assert.equal(stored('web-0')?.metadata.annotations?.['sidecar-injector.io/config'], `old.${fixture.hash('old')}`);
      become('web-0', 0, running(), 'True', given('0.2'));
      await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
      next();
      assert.equal(updateOf('web-0')?.resizing, undefined);
      become('web-0', 1, running(), 'True', given('0.2'));
      await fixture.passUntil(() => updateOf('web-0') === undefined);
      assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['200m', 'proxy:2']);
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    });

    for (const [title, resize, milliseconds, message] of [
      ['that no node can', said('PodResizePending', 'Infeasible', 'too much'), 0, /cannot give the pod .*: too much$/],
      ['that has to wait', said('PodResizePending', 'Deferred', 'full'), 61_000, /its new resources after 1m: full$/],
      ['without an effect', given('100m'), 61_000, /does not have its new resources after 1m$/],
    ] as const) {
      it(`take back one ${title}`, async () => {
        await beginResize();
        become('web-0', 0, running(), 'True', resize);
        if (milliseconds > 0) {
          await fixture.passOn();
          assert.equal(cpuOf('web-0'), '200m', 'it may still succeed');
          await fixture.clock.advance(milliseconds);
        }
        await fixture.passUntil(() => cpuOf('web-0') === '100m');
        next();
        await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
        assert.match(updateOf('web-0')?.failed ?? '', message);
        await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
        assert.equal(imageOf('web-0'), 'proxy:1');
      });
    }

    const [ofPod, ofResize] = ['pods', 'pods/resize'];
    for (const [title, image, writes] of [
      ['succeed', 'proxy:2', [ofPod, ofResize, ofPod, ofPod]],
      ['fail', 'proxy:1', [ofPod, ofResize, ofPod, ofResize, ofPod]],
    ] as const) {
      for (const number of [0, ...writes.map((_, index) => index + 1)]) {
        const when = number === 0 ? 'each write' : `write ${number}`;
        it(`${title} although the leader is killed after ${when}, and none leads for long`, async () => {
          await begin({}, cpu);
          create('web-0');
          await fixture.move('prod', 'new');
          const written: string[] = [];
          let [restarts, started, kills] = [0, imageOf('web-0'), 0];
          /** Does what a kubelet does. The other image crashes until the resources are restored. */
          const act = (): void => {
            if (imageOf('web-0') !== started) [restarts, started] = [restarts + 1, imageOf('web-0')];
            const isRestored = written.filter((each) => each === ofResize).length > 1;
            const isFailing = title === 'fail' && started === 'proxy:2' && !isRestored;
            const state = isFailing ? { waiting: { reason: 'CrashLoopBackOff' } } : running();
            become('web-0', restarts, state, isFailing ? 'False' : 'True', given(cpuOf('web-0') ?? ''));
          };
          fixture.isFatal = ({ resource }) =>
            resource.startsWith('pods') && (written.push(resource) === number || number === 0);
          for (let turn = 0, quiet = 0; turn < 60; turn += 1) {
            const before = written.length;
            await fixture.pass();
            quiet = written.length === before ? quiet + 1 : 0;
            // The kubelet needs longer than some passes.
            if (quiet === 5) act();
            if (!fixture.signal.aborted) continue;
            kills += 1;
            // Longer than `readyTimeout`.
            await fixture.clock.advance(kills % 2 === 0 ? 1000 : 61_000);
            act();
            fixture.restart(allowed);
            await fixture.caughtUp();
            next();
          }
          // The kubelet has had no time for a resize if no process led before it.
          const [first, ...rest] = writes;
          assert.deepEqual(written, [first, ...(number > 1 ? [] : [ofPod]), ...rest]);
          const [{ failed } = {}, has] = [updateOf('web-0'), title === 'fail' ? cpu.old : cpu.new];
          assert.deepEqual([imageOf('web-0'), cpuOf('web-0'), failed !== undefined], [image, has, title === 'fail']);
        });
      }
    }

    it('take it back when the tag moves on, and write nothing else', async () => {
      await beginResize();
      await fixture.move('prod', 'old');
      become('web-0', 0, running(), 'True', given('200m'));
      await fixture.passUntil(() => updateOf('web-0')?.resizing === undefined);
      assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
      await fixture.passUntil(() => updateOf('web-0') === undefined);
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      assert.equal(imageOf('web-0'), 'proxy:1');
    });

    it('are no failure if the tag moves on, and comes back', async () => {
      await beginResize();
      await fixture.move('prod', 'env');
      become('web-0', 0, running(), 'True', given('200m'));
      await fixture.passUntil(() => cpuOf('web-0') === '100m');
      become('web-0', 0, running(), 'True', given('100m'));
      await fixture.passOn();
      await fixture.move('prod', 'new');
      await fixture.passUntil(() => updateOf('web-0')?.resizing === true);
      assert.deepEqual(counted, []);
    });

    it('give no pod a configuration that an author has written into its record', async () => {
      await begin({}, cpu);
      create('web-0');
      const target = `new.${fixture.hash('new')}`;
      const before = { images: {}, restarts: {}, labels: {}, annotations: {} };
      fixture.cluster.edit('pods', 'web-0', 'shop', ({ metadata }) => {
        const at = fixture.clock.now().toISOString();
        const record = JSON.stringify({ tag: 'prod', target, at, resizing: true, before });
        metadata.annotations = { ...metadata.annotations, [updateAnnotation]: record };
      });
      fixture.observe('web-0');
      await fixture.passUntil(() => updateOf('web-0')?.resizing === undefined);
      await fixture.passOn();
      assert.deepEqual([imageOf('web-0'), cpuOf('web-0')], ['proxy:1', '100m']);
    });

    it('leave a pod that has just ended as it is', async () => {
      await beginResize();
      fixture.cluster.edit('pods', 'web-0', 'shop', (pod) => {
        pod.status = { phase: 'Succeeded' };
      });
      await fixture.passUntil(() => updateOf('web-0') === undefined);
      assert.equal(imageOf('web-0'), 'proxy:1');
    });

    it('stop if the API server refuses it', async () => {
      await begin({}, cpu);
      create('web-0');
      const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/resize');
      fixture.cluster.fail(refuse, 403, 'Forbidden', 'exceeded quota', 1);
      await fixture.move('prod', 'new');
      await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
      assert.match(fixture.status()?.message ?? '', /the API server refuses the change: .*exceeded quota/);
      assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
    });

    it('are taken back if the kubelet becomes too old for the rest', async () => {
      await beginResize();
      fixture.cluster.edit('nodes', 'node', undefined, (node) => {
        node.status = { nodeInfo: { kubeletVersion: 'v1.31.0', operatingSystem: 'linux' } };
      });
      become('web-0', 0, running(), 'True', given('200m'));
      await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
      assert.match(updateOf('web-0')?.failed ?? '', /^spec\.initContainers\[proxy\]\.image: kubelets before 1\.32 /);
      assert.equal(cpuOf('web-0'), '100m');
    });

    it('say so if the resources cannot be restored', async () => {
      await beginResize();
      const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/resize');
      fixture.cluster.fail(refuse, 422, 'Invalid', 'too small', 1);
      become('web-0', 0, running(), 'True', said('PodResizePending', 'Infeasible', 'too much'));
      await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
      assert.match(updateOf('web-0')?.failed ?? '', /too much; its resources were not restored: .*too small/);
      assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['200m', 'proxy:1']);
    });

    it('are tried again after an error of the API server', async () => {
      await begin({}, cpu);
      create('web-0');
      const fails = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/resize');
      fixture.cluster.fail(fails, 500, 'InternalError', 'etcd is away', 1);
      await fixture.move('prod', 'new');
      await fixture.passUntil(() => updateOf('web-0')?.resizing === true);
      await fixture.passOn(5000);
      await fixture.passUntil(() => cpuOf('web-0') === '200m');
      assert.equal(updateOf('web-0')?.failed, undefined);
    });

    it('are taken back if the API server refuses the image', async () => {
      await beginResize();
      const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/pods/web-0');
      fixture.cluster.fail(refuse, 403, 'Forbidden', 'denied by a policy', 1);
      become('web-0', 0, running(), 'True', given('200m'));
      await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
      assert.match(updateOf('web-0')?.failed ?? '', /the API server refuses the change: .*denied by a policy/);
      assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
    });

    it('restore the resources with the image', async () => {
      await beginResize();
      become('web-0', 0, running(), 'True', given('200m'));
      await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
      become('web-0', 1, { waiting: { reason: 'CrashLoopBackOff' } }, 'False', given('200m'));
      await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
      assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
    });
  });

  describe('with prepull', () => {
    const pulls = (): KubernetesObject[] => fixture.cluster.list('pods', 'injection', { labelSelector: prepullLabel });
    /** Sets the status of the only pod that pulls. */
    function pulled(status: object): void {
      const [{ metadata } = assert.fail('no pod pulls')] = pulls();
      fixture.cluster.edit('pods', metadata.name ?? '', 'injection', (pod) => {
        pod.status = status;
      });
    }
    const said = (state: object, imageID = ''): object => ({
      phase: 'Pending',
      containerStatuses: [{ name: 'pull', imageID, state }],
    });
    const waiting = (reason: string): boolean => fixture.status()?.waiting[0]?.reason === reason;

    /** Moves the tag, until the new image is needed on the node of pods. */
    async function beginPull(...pods: string[]): Promise<void> {
      await begin();
      const restart = { ...strategy.restart, maxUnavailableWorkloads: 2, perNamespace: 2 };
      const own = { ...strategy, restart: { ...restart, prepull: true, pullSecrets: ['registry'] } };
      fixture.setSpec('prod', { strategy: own }, 'revisiontags');
      for (const name of pods) create(name, { kind: 'ReplicaSet', name });
      await fixture.move('prod', 'new');
      await fixture.passUntil(() => pulls().length > 0);
    }

    it('change no pod before its node has the image, also under the next leader, and leave no pod', async () => {
      await beginPull('web-0', 'web-1');
      await fixture.passOn(20_000);
      assert.equal(pulls().length, 1, 'one pod for both');
      assert.ok(waiting('Pulling'), fixture.status()?.waiting[0]?.reason);
      assert.match(fixture.status()?.waiting[0]?.message ?? '', /^waits for image proxy:2 on node node$/);
      const [pod] = pulls();
      const { nodeName, imagePullSecrets, restartPolicy } = pod?.spec as Record<string, unknown>;
      assert.deepEqual([nodeName, imagePullSecrets, restartPolicy], ['node', [{ name: 'registry' }], 'Never']);
      const [owner] = pod?.metadata.ownerReferences ?? [];
      assert.deepEqual([owner?.kind, owner?.name], ['RevisionTag', 'prod']);
      assert.deepEqual(
        names.map((each) => imageOf(each)),
        ['proxy:1', 'proxy:1'],
      );
      fixture.lead();
      for (const name of names) fixture.observe(name);
      pulled(said({ terminated: { reason: 'StartError', exitCode: 128 } }, 'sha256:2'));
      await fixture.passUntil(() => names.every((each) => imageOf(each) === 'proxy:2'));
      for (const name of names) become(name, 1, running());
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      assert.deepEqual(pulls(), []);
    });

    it('say which image a node cannot pull, and go on when it can', async () => {
      await beginPull('web-0');
      pulled(said({ waiting: { reason: 'ErrImagePull', message: 'no such host' } }));
      await fixture.passUntil(() => waiting('NotPulled'));
      const { message = '' } = fixture.status()?.waiting[0] ?? {};
      assert.equal(message, 'image proxy:2 on node node could not be pulled: ErrImagePull: no such host');
      assert.equal(imageOf('web-0'), 'proxy:1');
      pulled(said({ waiting: { reason: 'ContainerCreating' } }, 'sha256:2'));
      await fixture.clock.advance(61_000);
      await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
      // A pod that cannot be deleted delays nothing.
      const deletes = (method: string, path: string): boolean => method === 'DELETE' && path.includes('/pods/');
      fixture.cluster.fail(deletes, 403, 'Forbidden', 'cannot delete pods', 1);
      become('web-0', 1, running());
      await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
      assert.equal(pulls().length, 1);
    });

    it('replace a pod that has ended without the image', async () => {
      await beginPull('web-0');
      const [first] = pulls();
      pulled({ phase: 'Failed', reason: 'OutOfpods', message: 'the node is full' });
      await fixture.passUntil(() => waiting('NotPulled'));
      assert.match(fixture.status()?.waiting[0]?.message ?? '', /: OutOfpods: the node is full$/);
      await fixture.clock.advance(61_000);
      await fixture.passUntil(() => pulls().length > 0);
      assert.notEqual(pulls()[0]?.metadata.uid, first?.metadata.uid);
      assert.equal(imageOf('web-0'), 'proxy:1');
    });

    it('say how to grant the right to pull', async () => {
      const creates = (method: string, path: string): boolean => method === 'POST' && path.endsWith('/pods');
      await begin();
      fixture.cluster.fail(creates, 403, 'Forbidden', 'cannot create pods', 1);
      const own = { ...strategy, restart: { ...strategy.restart, prepull: true } };
      fixture.setSpec('prod', { strategy: own }, 'revisiontags');
      create('web-0');
      await fixture.move('prod', 'new');
      await fixture.passUntil(() => waiting('NotPulled'));
      assert.match(
        fixture.status()?.waiting[0]?.message ?? '',
        /cannot create pods; set operator\.prepullPods of the chart/,
      );
    });
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
