import assert from 'node:assert/strict';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectorConfig, template } from '../testdata/operator-fixture.ts';
import { ProcessCluster } from '../testdata/operator-process.ts';

const otherKeys = { injection: 'logs/on', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };

describe('InjectorOperator with pod watches', () => {
  let cluster: ProcessCluster;
  beforeEach(async () => {
    cluster = new ProcessCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());
  it('reports the pods and namespaces that use an InjectorConfig, and the stale pods', async () => {
    const first = await cluster.launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.isReady('blue'));
    const usage = (): Record<string, unknown> =>
      (cluster.get('injectorconfigs', 'blue')?.status ?? {}) as Record<string, unknown>;
    const { hash } = usage().config as { hash: string };
    const labels = { 'istio.io/rev': 'blue' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    for (const [name, configHash] of Object.entries({ a: hash, b: '00000000' })) {
      const status = '{"revision":"blue"}';
      const annotations = { 'sidecar-injector.io/config': `blue.${configHash}`, 'sidecar.istio.io/status': status };
      cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', annotations } });
    }
    // The next leader writes the usage immediately.
    await first.stop();
    const second = await cluster.launch('two');
    await cluster.until(() => (usage().pods as { count: number } | undefined)?.count === 2);
    assert.deepEqual(usage().injected, { current: 1, stale: 1, missing: 0, total: 2 });
    assert.deepEqual(usage().namespaces, { count: 1, names: ['shop'] });
    assert.ok(cluster.isReady('blue'), 'the conditions are unchanged');

    // A leader that does not watch pods removes the old usage.
    await second.stop();
    await cluster.launch('three', { followPods: false });
    await cluster.until(() => usage().injected === undefined && cluster.isReady('blue'));
    assert.equal(usage().pods, undefined);
  });

  it('lists pods and namespaces in small pages only if it also serves admissions', async () => {
    const limits = (): (string | null)[] =>
      cluster.server.requests
        .filter(({ path, query }) => /^\/api\/v1\/(?:pods|namespaces)$/.test(path) && !query.has('watch'))
        .map(({ query }) => query.get('limit'));
    const first = await cluster.launch();
    await cluster.until(() => limits().length === 2);
    await first.stop();
    await cluster.launch('two', { role: 'controller' });
    await cluster.until(() => limits().length === 4);
    assert.deepEqual(limits(), ['25', '25', '250', '250']);
  });

  it('publishes a configuration even if it fails for workloads in the cluster, and names the workloads', async () => {
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
    assert.match(doubt(), /^the templates fail for 1 of 1 pods that were tried, such as Deployment shop\/web: .*Nmae/);
    // The next leader keeps the condition until it has tried the pods itself.
    await first.stop();
    cluster.fail((_method, path) => path.includes('/namespaces/shop/pods'), 403, 'Forbidden', 'pods is forbidden');
    const second = await cluster.launch('two');
    await cluster.until(() =>
      second.logger.lines.some(({ message }) => message.endsWith('not tried with pods of the cluster')),
    );
    assert.match(doubt(), /Deployment shop\/web/);
    cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.spec = injectorConfig('blue').spec;
    });
    await cluster.until(() => cluster.ready('blue', 'injectorconfigs', 'TemplatesDoubtful') === 'False/AllFine');
    await cluster.until(() => cluster.isReady('blue'));
  });

  it('lists pods again when a selector needs a label that the cache has dropped', async () => {
    const process = await cluster.launch();
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } });
    for (const app of ['web', 'api']) {
      const metadata = { name: app, namespace: 'shop', labels: { app } };
      cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata });
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
    assert.equal(process.logger.lines.filter(({ message }) => message.startsWith('listing pods again')).length, 1);
  });
});
