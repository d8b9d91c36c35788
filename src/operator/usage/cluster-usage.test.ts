import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { compileLabelSelector } from '../../selection/label-selector.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { writeStatus } from '../../kube/status-writer.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { ClusterView } from '../cluster-view.ts';
import { podRecord } from '../pods/pod-record.ts';
import type { PodRecord } from './pod-group.ts';
import { TagTargets } from '../tags/tag-targets.ts';
import { context, injectorConfig } from '../testdata/operator-fixture.ts';
import { MemoryCluster } from '../testdata/memory-cluster.ts';
import { ClusterUsage } from './cluster-usage.ts';
import { rules } from './testdata/counted-pods.ts';

describe('ClusterUsage', () => {
  let clock: ManualClock;
  let view: ClusterView;
  let usage: ClusterUsage;
  let stop: AbortController;
  let pods: ObjectStore<PodRecord>;
  let namespaces: ObjectStore;
  let keep: (pod: KubernetesObject) => PodRecord;
  let news: string[];
  let relists: number;
  let served: DecisionRules | undefined;
  let version = 0;

  beforeEach(() => {
    clock = new ManualClock();
    view = new ClusterView(context.namespace, context.operatorClass);
    stop = new AbortController();
    [news, relists, served] = [[], 0, rules];
    const targets = new TagTargets(view, context.operatorClass);
    usage = new ClusterUsage({
      view,
      claims: () => targets.claims(),
      namespace: context.namespace,
      rules: () => Promise.resolve(served),
      news: (kind, name) => news.push(`${kind} ${name}`),
      clock,
      logger: capturingLogger(),
    });
  });

  function versioned<T extends KubernetesObject>(object: T): T {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  }
  function publish(name: string, hash: string, spec: Record<string, unknown> = {}): void {
    const config = versioned(injectorConfig(name, spec));
    view.configs.upsert(config);
    const object = webhookConfiguration({ config: parseInjectorConfig(config), hash, caBundlePem: 'ca' }, context);
    view.mutatingWebhooks.upsert(versioned(object));
  }
  function begin(): void {
    pods = new ObjectStore<PodRecord>();
    namespaces = new ObjectStore();
    const groupOf = usage.begin({ pods, namespaces }, stop.signal, () => (relists += 1));
    keep = (object) => podRecord(object, groupOf(object));
  }
  function pod(name: string, injectedBy?: string, labels: Record<string, string> = {}): KubernetesObject {
    const annotations = injectedBy && {
      'sidecar-injector.io/config': injectedBy,
      'sidecar.istio.io/status': JSON.stringify({ revision: injectedBy.split('.')[0] }),
    };
    const own = { name, namespace: 'shop', uid: name, creationTimestamp: '2026-01-01T00:00:00Z' };
    const metadata = { ...own, labels, annotations: annotations || {} };
    return versioned({ apiVersion: 'v1', kind: 'Pod', metadata, spec: {} });
  }
  /** Lists namespace `shop`, with these labels, and these pods. */
  const read = (labels: Record<string, string>, ...all: PodRecord[]): void => {
    namespaces.replace([namespace('shop', labels)], '1');
    pods.replace(all, '1');
  };
  const blue = { 'istio.io/rev': 'blue' };
  const namespace = (name: string, labels: Record<string, string>): KubernetesObject =>
    versioned({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });

  it('reports namespaces that are being deleted, once all are listed', () => {
    assert.equal(usage.isBeingDeleted('shop'), false);
    begin();
    assert.equal(usage.isBeingDeleted('shop'), false);
    const old = namespace('old', {});
    namespaces.replace([namespace('shop', {}), old], '1');
    assert.deepEqual([usage.isBeingDeleted('shop'), usage.isBeingDeleted('old')], [false, false]);
    namespaces.upsert(versioned({ ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }));
    assert.deepEqual(['shop', 'old', 'gone'].map(usage.isBeingDeleted.bind(usage)), [false, true, true]);
  });

  it('lists names of each namespace in turn, so that no author fills the list', async () => {
    publish('blue', 'aaaaaaaa');
    begin();
    namespaces.replace(
      ['author', 'shop', 'tools'].map((name) => namespace(name, blue)),
      '1',
    );
    const inNamespace = (name: string, where: string): PodRecord => {
      const object = pod(name, 'blue.00000000');
      return keep({ ...object, metadata: { ...object.metadata, namespace: where } });
    };
    const authors = Array.from({ length: 60 }, (_, index) => inNamespace(`p-${index}`, 'author'));
    pods.replace([...authors, inNamespace('web', 'shop'), inNamespace('a', 'tools'), inNamespace('b', 'tools')], '1');
    await clock.advance(500);
    const { pods: listed, workloads } = usage.injectorConfig('blue') ?? {};
    assert.deepEqual([listed?.count, listed?.names.length, workloads?.stale.length], [63, 20, 20]);
    assert.deepEqual(listed?.names.slice(15), ['author/p-22', 'author/p-23', 'shop/web', 'tools/a', 'tools/b']);
    assert.deepEqual(
      workloads?.stale.slice(17).map(({ namespace: where, name }) => `${where}/${name}`),
      ['shop/web', 'tools/a', 'tools/b'],
    );
  });

  it('takes one snapshot after another, so that many subjects do not block the event loop', async () => {
    for (const name of ['blue', 'green', 'red']) publish(name, 'aaaaaaaa');
    begin();
    read(blue, keep(pod('a', 'blue.aaaaaaaa')));
    const counts: number[] = [];
    for (const milliseconds of [240, 10, 5, 5, 60_000]) {
      await clock.advance(milliseconds);
      counts.push(news.length);
    }
    assert.deepEqual(counts, [0, 1, 2, 3, 3]);
  });

  it('reports nothing before all objects are listed, and then reports immediately', async () => {
    publish('blue', 'aaaaaaaa');
    begin();
    namespaces.replace([namespace('shop', { 'istio.io/rev': 'blue' })], '1');
    await clock.advance(60_000);
    assert.equal(usage.injectorConfig('blue'), undefined);
    pods.replace([keep(pod('a', 'blue.aaaaaaaa')), keep(pod('b', 'blue.00000000')), keep(pod('c'))], '1');
    await clock.advance(500);
    assert.deepEqual(news, ['InjectorConfig blue']);
    assert.deepEqual(usage.injectorConfig('blue'), {
      injected: { current: 1, stale: 1, missing: 1, total: 3 },
      namespaces: { count: 1, names: ['shop'] },
      pods: { count: 3, names: ['shop/a', 'shop/b', 'shop/c'] },
      workloads: {
        count: 3,
        stale: [{ namespace: 'shop', kind: 'Pod', name: 'b', pods: 1 }],
        missing: [{ namespace: 'shop', kind: 'Pod', name: 'c', pods: 1, reason: 'NotCalled' }],
      },
    });
    assert.deepEqual(usage.figures(), {
      pods: [{ injectorConfig: 'blue', tag: '', counts: { current: 1, stale: 1, missing: 1 } }],
      namespaces: [{ namespace: 'shop', counts: { current: 1, stale: 1, missing: 1 } }],
    });
  });

  it('does not count a pod that has only a forged annotation', async () => {
    publish('blue', 'aaaaaaaa');
    begin();
    namespaces.replace([namespace('shop', {})], '1');
    const forged = (name: string, status?: string): PodRecord => {
      const object = pod(name, 'blue.aaaaaaaa');
      const { 'sidecar.istio.io/status': own = '', ...annotations } = object.metadata.annotations ?? {};
      const signed = status === undefined ? annotations : { ...annotations, 'sidecar.istio.io/status': status };
      assert.notEqual(own, status);
      return keep({ ...object, metadata: { ...object.metadata, annotations: signed } });
    };
    const absent = '{"revision":"blue","containers":["istio-proxy"]}';
    pods.replace([forged('a'), forged('b', '{}'), forged('c', absent)], '1');
    await clock.advance(60_000);
    assert.deepEqual(usage.injectorConfig('blue')?.pods, { count: 0, names: [] });
    pods.upsert(keep(pod('d', 'blue.aaaaaaaa')));
    await clock.advance(60_000);
    assert.deepEqual(usage.injectorConfig('blue')?.pods, { count: 1, names: ['shop/d'] });
  });

  it('lists any pods in a status that the API server accepts, whatever their author wrote', async () => {
    const cluster = new MemoryCluster();
    await cluster.start();
    publish('blue', 'aaaaaaaa');
    const stored = cluster.put('injectorconfigs', injectorConfig('blue'));
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const owned = fc.record({
      kind: fc.oneof(text, fc.constant('ReplicaSet')),
      name: text,
      hash: text,
      generateName: text,
    });
    const check = async (owners: (typeof owned extends fc.Arbitrary<infer Owner> ? Owner : never)[]): Promise<void> => {
      stop.abort();
      stop = new AbortController();
      begin();
      const made = owners.map(({ kind, name, hash, generateName }, index) => {
        const object = pod(`a-${index}`, `blue.00000000,${name}`, { 'pod-template-hash': hash, 'istio.io/rev': hash });
        const ownerReferences = [{ kind, name: `${name}${hash}`, controller: index % 3 > 0 }];
        return { ...object, metadata: { ...object.metadata, generateName, ownerReferences } } as KubernetesObject;
      });
      read(blue, ...made.map(keep));
      await clock.advance(60_000);
      const status = usage.injectorConfig('blue');
      const object: KubernetesObject = { ...stored, metadata: { name: 'blue' } };
      const written = await writeStatus(cluster.client, object, status, { fieldManager: 'us' });
      assert.deepEqual(written?.status, status);
      const { stale = [], missing = [] } = status?.workloads ?? {};
      assert.ok(stale.length + missing.length > 0);
      for (const { kind, name } of [...stale, ...missing])
        assert.match(`${kind} ${name}`, /^[-A-Za-z0-9]* [-.A-Za-z0-9]*$/);
    };
    await fc
      .assert(fc.asyncProperty(fc.array(owned, { minLength: 1, maxLength: 8 }), check))
      .finally(() => cluster.stop());
  });

  it('requests a write at most every 30 s, and immediately after 30 s without changes', async () => {
    publish('blue', 'aaaaaaaa');
    begin();
    read({});
    await clock.advance(1000);
    assert.deepEqual(news, ['InjectorConfig blue']);
    for (let second = 0; second < 29; second += 1) {
      pods.upsert(keep(pod(`p${second}`, 'blue.aaaaaaaa')));
      await clock.advance(1000);
    }
    assert.equal(news.length, 1);
    assert.equal(usage.injectorConfig('blue')?.injected?.total, 0, 'the snapshot stays the same meanwhile');
    await clock.advance(2000);
    assert.equal(news.length, 2);
    assert.deepEqual(usage.injectorConfig('blue')?.injected, { current: 0, stale: 29, missing: 0, total: 29 });
    await clock.advance(600_000);
    assert.equal(news.length, 2, 'nothing has changed');
    namespaces.upsert(namespace('shop', { 'istio.io/rev': 'blue' }));
    await clock.advance(300);
    assert.equal(news.length, 3);
    assert.equal(usage.injectorConfig('blue')?.injected?.current, 29);
  });

  it('follows updated and deleted webhooks', async () => {
    publish('blue', 'aaaaaaaa');
    begin();
    read(blue, keep(pod('a', 'blue.aaaaaaaa')));
    await clock.advance(1000);
    publish('blue', 'bbbbbbbb');
    await clock.advance(31_000);
    assert.deepEqual(usage.injectorConfig('blue')?.injected, { current: 0, stale: 1, missing: 0, total: 1 });
    view.mutatingWebhooks.remove(versioned(view.mutatingWebhooks.list()[0]!));
    await clock.advance(31_000);
    assert.deepEqual(usage.injectorConfig('blue')?.namespaces, { count: 1, names: ['shop'] }, 'by its label');
    view.configs.remove(versioned(view.configs.list()[0]!));
    await clock.advance(31_000);
    assert.equal(usage.injectorConfig('blue'), undefined);
    const counts = { current: 0, stale: 1, missing: 0 };
    assert.deepEqual(usage.figures()?.pods, [{ injectorConfig: '', tag: '', counts }]);
    stop.abort();
    assert.equal(usage.figures(), undefined);
  });

  it('loads rules again after a failure', async () => {
    served = undefined;
    publish('blue', 'aaaaaaaa');
    begin();
    read(blue, keep(pod('a')));
    await clock.advance(1000);
    assert.equal(usage.injectorConfig('blue')?.injected?.missing, 0);
    served = rules;
    await clock.advance(90_000);
    assert.equal(usage.injectorConfig('blue')?.injected?.missing, 1);
  });

  it('lists pods again, once, when a selector uses a label that was not kept', async () => {
    publish('blue', 'aaaaaaaa');
    begin();
    const plain = pod('a', undefined, { app: 'web' });
    read(blue, keep(plain));
    await clock.advance(1000);
    assert.equal(relists, 0);
    publish('green', 'aaaaaaaa');
    await clock.advance(31_000);
    assert.equal(relists, 0, 'a member of the same family needs no new label');
    served = { ...rules, neverInject: [compileLabelSelector({ matchLabels: { app: 'web' } }, 'nothing')] };
    publish('blue', 'bbbbbbbb');
    await clock.advance(1000);
    assert.equal(relists, 1);
    assert.equal(usage.figures(), undefined);
    begin();
    read(blue, keep(plain));
    await clock.advance(1000);
    assert.equal(usage.injectorConfig('blue')?.injected?.missing, 0);
    assert.equal(relists, 1);
  });

  it('keeps at most 2 KB per pod, even if all pods differ', async function () {
    this.timeout(60_000);
    if (globalThis.gc === undefined) {
      const { setFlagsFromString } = await import('node:v8');
      const { runInNewContext } = await import('node:vm');
      setFlagsFromString('--expose-gc');
      globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;
    }
    const collect = async (): Promise<number> => {
      for (let turn = 0; turn < 4; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        globalThis.gc?.();
      }
      return process.memoryUsage().heapUsed;
    };
    publish('blue', 'aaaaaaaa');
    const count = 10_000;
    const measure = async (owner: (index: number) => string | undefined): Promise<number> => {
      begin();
      const before = await collect();
      for (let index = 0; index < count; index += 1) {
        // Parse each pod from JSON, so that strings are not shared.
        const object = pod(`some-deployment-5d4f8c7b9-${index}`, 'blue.aaaaaaaa', { 'istio.io/rev': 'blue' });
        const name = owner(index);
        const ownerReferences = [{ kind: 'ReplicaSet', name, controller: true }];
        const owned = name === undefined ? {} : { generateName: `${name}-`, ownerReferences };
        Object.assign(object.metadata, { namespace: `namespace-${index % 1000}`, uid: crypto.randomUUID() }, owned);
        pods.upsert(keep(JSON.parse(JSON.stringify(object)) as KubernetesObject));
      }
      for (let index = 0; index < 1000; index += 1) {
        const name = `namespace-${index}`;
        namespaces.upsert(namespace(name, { 'kubernetes.io/metadata.name': name, ...blue }));
      }
      const bytes = ((await collect()) - before) / count;
      assert.equal(usage.figures()?.pods[0]?.counts.current, count);
      return Math.round(bytes);
    };
    const alike = await measure((index) => `web-${Math.floor((index % 1000) / 10)}`);
    const alone = await measure(() => undefined);
    console.log(`      ${alike} bytes per pod with ten equal pods, ${alone} with none`);
    assert.ok(alike <= 900, String(alike));
    assert.ok(alone <= 2048, String(alone));
  });
});
