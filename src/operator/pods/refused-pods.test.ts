import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, until } from '../../kube/testdata/manual-clock.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import { EditedUsage, selectingWebhook } from '../usage/testdata/counted-pods.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { traitsOf } from '../usage/pod-traits.ts';
import { RefusedPods, type RefusedPodsOptions } from './refused-pods.ts';
import { fullQuota } from '../testdata/refuse-pods.ts';

describe('RefusedPods', () => {
  const second = 1000;
  let clock: ManualClock;
  let refused: RefusedPods;
  let leading: AbortController;
  /** The watches, and the read objects, in order. */
  let watches: { readonly store: ObjectStore; readonly signal: AbortSignal }[];
  let reads: string[];
  let missing: Set<string>;
  let whole: Set<string>;

  beforeEach(() => {
    clock = new ManualClock(Date.UTC(2026, 5, 1));
    leading = new AbortController();
    [watches, reads, missing, whole] = [[], [], new Set(), new Set()];
    const usage = new EditedUsage();
    usage.setFamily('old', istioKeys);
    usage.setWebhook('tag-prod', selectingWebhook('old', { hash: '11111111', tag: 'prod' }));
    for (const namespace of ['shop', 'bank']) usage.setNamespace(namespace, { 'istio.io/rev': 'prod' });
    refused = new RefusedPods({
      follow: ({ store, signal }) => watches.push({ store: store as unknown as ObjectStore, signal }),
      client: {
        list: ((_, options) => {
          const { namespace = '', fieldSelector = '' } = options ?? {};
          const name = fieldSelector.replace('metadata.name=', '');
          reads.push(`${namespace}/${name}`);
          const template = { metadata: { labels: { 'pod-template-hash': '1' } } };
          const object = {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            metadata: { name, namespace },
            spec: { template },
            status: { replicas: whole.has(name) ? 1 : 0 },
          };
          const items = missing.has(name) ? [] : [object];
          return Promise.resolve({ items, resourceVersion: '1', continue: undefined });
        }) as RefusedPodsOptions['client']['list'],
      },
      usage: {
        traitsOf: (pod) => traitsOf(pod, { labels: new Set(), annotations: new Set(), statuses: new Set() }),
        judge: (traits) => usage.judge(traits),
        selectingWebhook: () => undefined,
      },
      isInvalid: () => Promise.resolve(undefined),
      clock,
      logger: capturingLogger(),
    });
    refused.follow('tag/prod', true, leading.signal);
    watches[0]?.store.replace([], '1');
  });

  const event = (name: string, fields: Partial<KubernetesObject> = {}, namespace = 'shop'): void => {
    const involvedObject = { kind: 'ReplicaSet', name };
    const lastTimestamp = clock.now().toISOString();
    const metadata = { name: `${name}.1`, namespace };
    const object = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata,
      involvedObject,
      message: fullQuota,
      lastTimestamp,
      ...fields,
    };
    watches.at(-1)?.store.upsert(object);
  };
  const names = (): string[] => refused.of('prod').map(({ namespace, kind, name }) => `${namespace}/${kind}/${name}`);

  it('finds the workload of a refused pod, and the configuration that it would get', async () => {
    event('web-1');
    await until(() => names().length > 0);
    const at = clock.now().getTime();
    const message = 'the pod is forbidden: exceeded quota: q, requested: pods=1, used: pods=9, limited: pods=9';
    const workload = { namespace: 'shop', kind: 'Deployment', name: 'web' };
    const expected = {
      ...workload,
      object: 'ReplicaSet web-1',
      message,
      since: at,
      at,
      target: 'old.11111111',
      verdict: undefined,
    };
    assert.deepEqual(refused.of('prod'), [expected]);
    assert.deepEqual(refused.of('other'), []);
  });

  it('ignores objects that do not exist, other kinds, and what is neither a name nor a refusal', async () => {
    missing.add('gone-1');
    event('gone-1');
    event('a', { involvedObject: { kind: 'Pod', name: 'a' } });
    event('b', { message: 'Error creating: Internal error occurred: failed calling webhook "x"' });
    event('c', { lastTimestamp: 'never' });
    for (const name of ['x,metadata.namespace=y', '', '../x', 'a'.repeat(254)]) event(name);
    event('web-1');
    await until(() => names().length > 0);
    assert.deepEqual([names(), reads], [['shop/Deployment/web'], ['shop/gone-1', 'shop/web-1']]);
  });

  it('keeps 20 objects of a namespace, and reads each at most once in 5 s', async () => {
    for (let index = 0; index < 1000; index += 1) event(`web${index}-1`);
    for (let times = 0; times < 100; times += 1) event('web0-1');
    event('api-1', {}, 'bank');
    await until(() => names().includes('bank/Deployment/api'));
    assert.deepEqual([names().length, reads.length], [21, 21]);
    await clock.advance(5 * second);
    event('web0-1');
    await until(() => reads.length === 22);
  });

  it('takes the latest of several objects of a workload, and forgets what is over', async () => {
    event('web-1');
    await clock.advance(3 * second);
    event('web-1');
    await clock.advance(second);
    event('web-2', { involvedObject: { kind: 'ReplicaSet', name: 'web-2' } });
    await until(() => reads.length === 2 && names().length > 0);
    await clock.advance(20 * second);
    assert.equal(names().length, 1, 'one attempt may follow others');
    await clock.advance(1200 * second);
    assert.deepEqual(names(), []);
  });

  it('returns only what is proven until all Events are listed and all objects are read', async () => {
    refused.follow('tag/prod', false, leading.signal);
    refused.follow('tag/prod', true, leading.signal);
    event('web-1');
    await until(() => reads.length === 1);
    assert.deepEqual(names(), []);
    watches[1]?.store.replace([], '1');
    await until(() => names().length === 1);
    event('api-1');
    assert.deepEqual(names(), [], 'an object is not read yet');
    await until(() => names().length === 2);
    await clock.advance(5 * second);
    event('web-1');
    assert.equal(names().length, 2, 'what is known stays until it is read again');
  });

  it('ignores objects that lack no pods, even if Events name them', async () => {
    whole.add('web-1');
    event('web-1');
    event('api-1');
    await until(() => names().length > 0 && reads.length === 2);
    assert.deepEqual(names(), ['shop/Deployment/api']);
  });

  it('watches Events only while a rollout or restarts need them and this process leads', async () => {
    event('web-1');
    await until(() => names().length > 0);
    refused.follow('restarts', true, leading.signal);
    refused.follow('tag/prod', false, leading.signal);
    assert.deepEqual([watches.length, watches[0]?.signal.aborted, names().length], [1, false, 1]);
    refused.follow('restarts', false, leading.signal);
    assert.deepEqual([watches[0]?.signal.aborted, names()], [true, []]);
    refused.follow('restarts', true, leading.signal);
    leading.abort();
    assert.equal(watches[1]?.signal.aborted, true);
    refused.follow('restarts', true, leading.signal);
    assert.equal(watches.length, 2);
    refused.follow('restarts', true, new AbortController().signal);
    assert.deepEqual([watches.length, watches[2]?.signal.aborted], [3, false]);
  });
});
