import assert from 'node:assert/strict';
import type { KubernetesObject, ObjectMeta } from '../api/kubernetes/kubernetes.ts';
import { ApiError } from '../kube/api-error.ts';
import type { ApplyOptions } from '../kube/api-client.ts';
import { configMaps } from './cluster-view.ts';
import { MemoryCluster } from './testdata/memory-cluster.ts';

/** The main rules. Scenario memory-cluster compares the cluster with a real API server. */
describe('MemoryCluster', () => {
  let cluster: MemoryCluster;
  beforeEach(async () => {
    cluster = new MemoryCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());

  const configMap = (data: Record<string, string>, metadata: ObjectMeta = {}): KubernetesObject => {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n', ...metadata }, data };
  };
  const webhooks = (...names: string[]): KubernetesObject => {
    const kind = 'MutatingWebhookConfiguration';
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: 'a' },
      webhooks: names.map((name) => ({ name })),
    };
  };
  const apply = (
    object: KubernetesObject,
    fieldManager: string,
    how: Partial<ApplyOptions> = {},
  ): Promise<KubernetesObject> => cluster.client.apply(object, { fieldManager, ...how });
  const refusal = async (request: Promise<unknown>): Promise<string> => {
    const error: unknown = await request.then(
      () => assert.fail('the request succeeded'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ApiError);
    return [error.code, error.reason, ...error.causes.map(({ message, field }) => `${message} at ${field}`)].join(' ');
  };
  const stored = (): KubernetesObject | undefined => cluster.get('configmaps', 'a', 'n');
  const version = (): string | undefined => stored()?.metadata.resourceVersion;

  it('refuses an apply that changes a field of another manager, and transfers the field with force', async () => {
    await apply(configMap({ one: '1', two: '2' }), 'ours');
    await cluster.client.patch(configMap({}), 'merge', { data: { one: '3' } }, { fieldManager: 'theirs' });
    const message = '409 Conflict conflict with "theirs" using v1 at .data.one';
    assert.equal(await refusal(apply(configMap({ one: '1', two: '2' }), 'ours')), message);
    await apply(configMap({ one: '1', two: '2' }), 'ours', { force: true });
    assert.deepEqual(stored()?.data, { one: '1', two: '2' });
    assert.ok(!JSON.stringify(stored()?.metadata.managedFields).includes('theirs'));
  });

  it('refuses characters and escapes in apply bodies that YAML lacks', async () => {
    const send = (text: string): Promise<unknown> => {
      const body = JSON.stringify(configMap({})).replace('}', `,"labels":{"a":"${text}"}}`);
      const options = { body, contentType: 'application/apply-patch+yaml', query: { fieldManager: 'ours' } };
      return cluster.client.request('PATCH', '/api/v1/namespaces/n/configmaps/a', options);
    };
    for (const text of ['\u007f', '\u0084', '\u009f', '\ufffe', '\uffff', '\\ud83d\\ude00'])
      assert.equal(await refusal(send(text)), '400 BadRequest');
    for (const text of ['\\u007f', '\\\\ud83d', '\u{1f600}']) await send(text);
  });

  it('removes a field that its only manager no longer applies', async () => {
    await apply(configMap({ one: '1', two: '2' }), 'ours');
    await apply(configMap({ two: '2' }), 'theirs');
    await apply(configMap({}), 'ours');
    assert.deepEqual(stored()?.data, { two: '2' });
  });

  it('merges webhooks by name, and keeps the order of the applied list', async () => {
    await apply(webhooks('one', 'two'), 'ours');
    await apply(webhooks('other'), 'theirs');
    const merged = await apply(webhooks('two', 'three', 'one'), 'ours');
    assert.deepEqual(merged.webhooks, [{ name: 'two' }, { name: 'other' }, { name: 'three' }, { name: 'one' }]);
  });

  it('writes nothing for an equal apply, but records another manager', async () => {
    await apply(configMap({ one: '1' }), 'ours');
    const before = version();
    await apply(configMap({ one: '1' }), 'ours');
    assert.equal(version(), before);
    await apply(configMap({ one: '1' }), 'theirs');
    assert.notEqual(version(), before);
  });

  it('refuses outdated versions, another uid, a missing object and a second creation', async () => {
    const { metadata } = await cluster.client.create(configMap({}));
    cluster.edit('configmaps', 'a', 'n', (object) => (object.data = { one: '1' }));
    const { resourceVersion } = metadata;
    const outdated = configMap({}, { resourceVersion: resourceVersion! });
    assert.equal(await refusal(cluster.client.replace(outdated)), '409 Conflict');
    assert.equal(await refusal(apply(outdated, 'ours')), '409 Conflict');
    assert.equal(await refusal(cluster.client.delete(outdated, { resourceVersion })), '409 Conflict');
    assert.equal(await refusal(cluster.client.delete(outdated, { uid: 'other' })), '409 Conflict');
    assert.equal(await refusal(cluster.client.create(configMap({}))), '409 AlreadyExists');
    assert.equal(await refusal(cluster.client.replace(configMap({}, { name: 'b' }))), '404 NotFound');
  });

  it('keeps an object with finalizers until the last one is removed', async () => {
    cluster.put('configmaps', configMap({}, { finalizers: ['example.com/a'] }));
    await cluster.client.delete(configMap({}));
    assert.notEqual(stored()?.metadata.deletionTimestamp, undefined);
    await cluster.client.patch(configMap({}), 'merge', { metadata: { finalizers: [] } });
    assert.equal(stored(), undefined);
  });

  it('raises the generation of an InjectorConfig for its spec, not for labels or status', async () => {
    const config: KubernetesObject = {
      apiVersion: 'sidecar-injector.io/v1alpha1',
      kind: 'InjectorConfig',
      metadata: { name: 'a' },
      spec: {},
    };
    await cluster.client.create({ ...config, status: { phase: 'x' } });
    assert.equal(cluster.get('injectorconfigs', 'a')?.status, undefined, 'a creation sets no status');
    await apply({ ...config, spec: { paused: true }, status: { phase: 'y' } }, 'ours', { subresource: 'status' });
    await cluster.client.patch(config, 'merge', { metadata: { labels: { a: 'b' } }, status: { phase: 'z' } });
    const { spec, status, metadata } = cluster.get('injectorconfigs', 'a')!;
    assert.deepEqual([spec, status, metadata.generation], [{}, { phase: 'y' }, 1]);
    await cluster.client.patch(config, 'merge', { spec: { paused: true } });
    assert.equal(cluster.get('injectorconfigs', 'a')?.metadata.generation, 2);
  });

  it('sends DELETED with the last matching state when an object no longer matches a selector', async () => {
    const events: string[] = [];
    const ending = new AbortController();
    const watch = async (): Promise<void> => {
      const options = { namespace: 'n', labelSelector: 'in', resourceVersion: '100', signal: ending.signal };
      for await (const { type, object } of cluster.client.watch(configMaps, options))
        events.push(`${type} ${object.metadata.labels?.in}`);
    };
    const ended = watch().catch(() => undefined);
    for (const labels of [{ in: '1' }, { in: '2' }, { out: '3' }, { in: '4' }])
      cluster.put('configmaps', configMap({}, { labels }));
    while (events.length < 4) await new Promise((resolve) => setImmediate(resolve));
    ending.abort();
    await ended;
    assert.deepEqual(events, ['ADDED 1', 'MODIFIED 2', 'DELETED 2', 'ADDED 4']);
  });

  it('refuses a watch from a compacted version', async () => {
    cluster.put('configmaps', configMap({}));
    cluster.compact();
    const watch = async (): Promise<void> => {
      for await (const event of cluster.client.watch(configMaps, { resourceVersion: '100' })) assert.fail(event.type);
    };
    assert.equal(await refusal(watch()), '410 Expired');
  });
});
