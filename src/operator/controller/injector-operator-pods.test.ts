import assert from 'node:assert/strict';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectorConfig, template } from '../testdata/operator-fixture.ts';
import { ProcessCluster } from '../testdata/operator-process.ts';

const otherKeys = { injection: 'logs/on', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };

describe('InjectorOperator, of what it follows while it leads,', () => {
  let cluster: ProcessCluster;
  beforeEach(async () => {
    cluster = new ProcessCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());

  it('tells of a pod that was not injected, in its namespace', async () => {
    await cluster.launch();
    cluster.put('injectorconfigs', injectorConfig('blue', { paused: true }));
    const labels = { 'istio.io/rev': 'blue' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    await cluster.until(() => cluster.names('events').length > 0);
    const metadata = { name: 'web', namespace: 'shop', uid: 'u1', creationTimestamp: new Date().toISOString() };
    cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {} });
    const told = () => cluster.names('events').flatMap((name) => cluster.get('events', name, 'shop') ?? []);
    await cluster.until(() => told().length > 0);
    const about = told().map(({ reason, regarding }) => [reason, (regarding as { uid: string }).uid]);
    assert.deepEqual(about, [['Paused', 'u1']]);
  });

  it('looks at stale workloads where it may restart them, and asks for none before', async () => {
    const isAsked = (): boolean => cluster.server.requests.some(({ path }) => path.startsWith('/apis/apps/'));
    const process = await cluster.launch('one', { restartWorkloads: true });
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.isReady('blue'));
    const labels = { 'istio.io/rev': 'prod' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    const tag = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'RevisionTag', metadata: { name: 'prod' } };
    cluster.put('revisiontags', { ...tag, spec: { revision: 'blue' } });
    await cluster.until(() => cluster.webhook('tag-prod') !== undefined);
    cluster.put('deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', generation: 1 },
      spec: { replicas: 1, template: { metadata: { labels: { app: 'web' } } } },
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    });
    const annotations = {
      'sidecar-injector.io/config': 'blue.00000000',
      'sidecar.istio.io/status': '{"revision":"blue"}',
    };
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d9c7bbbf4', uid: 'u1', controller: true };
    const podLabels = { 'pod-template-hash': '5d9c7bbbf4' };
    const metadata = { name: 'web-0', namespace: 'shop', annotations, labels: podLabels, ownerReferences: [owner] };
    cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {} });
    // It has counted the stale pod, and gone through its restarts since; what another InjectorConfig needs is asked for after that.
    await cluster.until(
      () => process.usage()?.pods.some(({ tag, counts }) => tag === 'prod' && counts.stale === 1) === true,
    );
    const passes = (): number => process.reconciled.filter((each) => each === '(restarts) Success').length;
    const before = passes();
    cluster.edit('revisiontags', 'prod', undefined, ({ metadata }) => {
      metadata.annotations = { note: 'looked at anew' };
    });
    await cluster.until(() => passes() > before);
    cluster.put('injectorconfigs', injectorConfig('later'));
    await cluster.until(() => cluster.isReady('later'));
    assert.equal(isAsked(), false);
    cluster.edit('revisiontags', 'prod', undefined, (object) => {
      object.spec = { revision: 'blue', strategy: { restart: {} } };
    });
    const restarts = (): Record<string, unknown> | undefined =>
      (cluster.get('revisiontags', 'prod')?.status as { restarts?: Record<string, unknown> } | undefined)?.restarts;
    const waiting = (): { name: string; reason: string } | undefined => {
      const [first] = (restarts()?.waiting ?? []) as { name: string; reason: string }[];
      return first;
    };
    // For some seconds after it has begun to lead, too.
    await cluster.until(() => waiting() !== undefined);
    assert.deepEqual([waiting()?.name, waiting()?.reason], ['web', 'JustMoved']);
    cluster.edit('revisiontags', 'prod', undefined, (object) => {
      object.spec = { revision: 'blue' };
    });
    await cluster.until(() => restarts() === undefined);
  });

  it('asks for no pod and no namespace where it is told not to', async () => {
    const asked: string[] = [];
    const note = (_method: string, path: string): boolean => {
      asked.push(path.replace(/\?.*/, ''));
      return false;
    };
    cluster.faults.push({ matches: note, answer: () => undefined });
    await cluster.launch('one', { followPods: false });
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.isReady('blue'));
    assert.ok(asked.includes('/api/v1/namespaces/injection/configmaps'));
    assert.deepEqual(
      asked.filter((path) => ['/api/v1/pods', '/api/v1/namespaces'].includes(path)),
      [],
    );
  });

  it('says who uses an InjectorConfig, and which pods are not as they would be now', async () => {
    const first = await cluster.launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.isReady('blue'));
    const usage = (): Record<string, unknown> =>
      (cluster.get('injectorconfigs', 'blue')?.status ?? {}) as Record<string, unknown>;
    const { hash } = usage().config as { hash: string };
    const labels = { 'istio.io/rev': 'blue' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    for (const [name, by] of [
      ['a', hash],
      ['b', '00000000'],
    ] as const) {
      const annotations = {
        'sidecar-injector.io/config': `blue.${by}`,
        'sidecar.istio.io/status': '{"revision":"blue"}',
      };
      cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', annotations } });
    }
    // Whoever leads next writes at once.
    await first.stop();
    const second = await cluster.launch('two');
    await cluster.until(() => (usage().pods as { count: number } | undefined)?.count === 2);
    assert.deepEqual(usage().injected, { current: 1, stale: 1, missing: 0, total: 2 });
    assert.deepEqual(usage().namespaces, { count: 1, names: ['shop'] });
    assert.ok(cluster.isReady('blue'), 'all else is as it was');

    // Where nobody counts any more, nothing old is said.
    await second.stop();
    await cluster.launch('three', { followPods: false });
    await cluster.until(() => usage().injected === undefined && cluster.isReady('blue'));
    assert.equal(usage().pods, undefined);
  });

  it('says which workloads of the cluster a configuration fails for, and publishes it all the same', async () => {
    const isLabelled = '{{ if index .ObjectMeta.Labels "team" }}{{ .Nmae }}{{ end }}';
    const failing = { injection: { templates: { sidecar: isLabelled + template('one') } } };
    const doubt = (): string => {
      const { conditions = [] } = (cluster.get('injectorconfigs', 'blue')?.status ?? {}) as {
        conditions?: Condition[];
      };
      return conditions.find(({ type }) => type === 'TemplatesDoubtful')?.message ?? '';
    };
    const podOf = (name: string, labels: Record<string, string>): KubernetesObject => {
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d9c7bbbf4', uid: 'u1', controller: true };
      const metadata = { name, namespace: 'shop', labels: { ...labels, 'pod-template-hash': '5d9c7bbbf4' } };
      const spec = { containers: [{ name: 'web' }] };
      return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, ownerReferences: [owner] }, spec };
    };
    const first = await cluster.launch();
    const labels = { 'istio.io/rev': 'blue' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    for (const name of ['web-1', 'web-2']) cluster.put('pods', podOf(name, { team: 'a' }));
    cluster.put('injectorconfigs', injectorConfig('blue', failing));
    await cluster.until(() => doubt() !== '');
    await cluster.until(() => cluster.isReady('blue'));
    assert.match(
      doubt(),
      /^the templates fail for 1 of 1 pods that they were tried with, such as Deployment shop\/web: .*Nmae/,
    );
    // Whoever leads next says nothing else before it has tried them.
    await first.stop();
    cluster.fail((_method, path) => path.includes('/namespaces/shop/pods'), 403, 'Forbidden', 'pods is forbidden');
    const second = await cluster.launch('two');
    await cluster.until(() =>
      second.logger.lines.some(({ message }) => message === 'not tried with pods of the cluster'),
    );
    assert.match(doubt(), /Deployment shop\/web/);
    cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.spec = injectorConfig('blue').spec;
    });
    await cluster.until(() => cluster.ready('blue', 'injectorconfigs', 'TemplatesDoubtful') === 'False/AllFine');
    await cluster.until(() => cluster.isReady('blue'));
  });

  it('reads pods again when a selector asks for a label that it has not kept', async () => {
    const process = await cluster.launch();
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } });
    for (const app of ['web', 'api']) {
      cluster.put('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: app, namespace: 'shop', labels: { app } },
      });
    }
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.isReady('blue'));
    const counted = (): unknown => process.usage()?.pods;
    assert.deepEqual(counted(), []);
    const webhook = { selection: 'Custom', namespaceSelector: {}, objectSelector: { matchLabels: { app: 'web' } } };
    cluster.put('injectorconfigs', injectorConfig('logs', { webhook: { ...webhook, keys: otherKeys } }));
    await cluster.until(() => cluster.isReady('logs'));
    await cluster.until(() => JSON.stringify(counted() ?? []) !== '[]');
    assert.deepEqual(counted(), [{ injectorConfig: 'logs', tag: '', counts: { current: 0, stale: 0, missing: 1 } }]);
    assert.equal(process.logger.lines.filter(({ message }) => message.startsWith('pods are read again')).length, 1);
  });
});
