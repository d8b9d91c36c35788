import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { followPods, PodEventLimits, PodEvents, type PodStores } from './pod-events.ts';
import { injectorConfig } from '../testdata/operator-fixture.ts';
import { rules } from '../usage/testdata/counted-pods.ts';

describe('PodEvents', () => {
  let clock: ManualClock;
  let stop: AbortController;
  let stores: PodStores;
  let events: string[];
  let counts: string[];
  let omitted: number;
  let failure: Error | undefined;
  const logger = capturingLogger();
  const configs = [
    parseInjectorConfig(injectorConfig('blue')),
    parseInjectorConfig(injectorConfig('off', { paused: true })),
  ];

  beforeEach(() => {
    clock = new ManualClock();
    stop = new AbortController();
    [events, counts, omitted, failure] = [[], [], 0, undefined];
    const podEvents = new PodEvents({
      claims: () => ({ configs, tags: [], targetOf: () => undefined }),
      rules: {
        get: () => (failure ? Promise.reject(failure) : Promise.resolve({ ...rules, policy: 'disabled' })),
      },
      recorder: {
        record: ({ metadata }: KubernetesObject, { type, reason, note }: RecordedEvent) =>
          events.push(`${metadata.namespace}/${metadata.name} ${type} ${reason}: ${note}`),
      },
      metrics: {
        podNotInjected: (name, reason) => counts.push(`${name} ${reason}`),
        podEventOmitted: () => (omitted += 1),
      },
      clock,
      logger,
      namespace: 'injection',
    });
    const uncounted = { begin: () => () => undefined };
    stores = followPods({ podEvents, usage: uncounted, clock }, stop.signal, () => undefined);
    const labels = { 'istio.io/rev': 'blue' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels, uid: 'n' }, status: {} };
    stores.namespaces.replace([stores.keepOfNamespace(namespace)], '1');
  });

  let version = 10;
  function pod(name: string, metadata: Record<string, unknown> = {}): KubernetesObject {
    version += 1;
    const own = { name, namespace: 'shop', uid: name, resourceVersion: String(version) };
    return { apiVersion: 'v1', kind: 'Pod', metadata: { ...own, ...metadata }, spec: {} };
  }
  const arrive = (object: KubernetesObject): void => {
    stores.pods.upsert(stores.keepOfPod(object));
  };
  const list = (...objects: KubernetesObject[]): void => {
    stores.pods.replace(objects.map(stores.keepOfPod), '5');
  };

  it('reports once why a new pod was not injected', async () => {
    list();
    const web = pod('web');
    arrive(web);
    arrive({ ...web, metadata: { ...web.metadata, resourceVersion: '9999' } });
    assert.deepEqual(events, []);
    await clock.advance(1000);
    const why = 'the policy is disabled and the pod does not ask for injection';
    const note = `not injected by InjectorConfig blue (revision blue): ${why}`;
    assert.deepEqual(events, [`shop/web Normal PolicyDisabled: ${note}`]);
    assert.deepEqual(counts, ['blue PolicyDisabled']);
    assert.equal(stores.pods.size, 1);
    assert.deepEqual(Object.keys(stores.namespaces.list()[0] ?? {}), ['apiVersion', 'kind', 'metadata']);
  });

  it('warns about a namespace whose label names no revision, after a delay, and lists the revisions', async () => {
    const labelled = (name: string, labels: Record<string, string>, uid = name): void => {
      const metadata = { name, labels, uid, resourceVersion: String((version += 1)) };
      stores.namespaces.upsert(stores.keepOfNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata }));
    };
    labelled('lost', { 'istio.io/rev': 'bleu' });
    labelled('found', { 'istio.io/rev': 'blue' });
    labelled('corrected', { 'istio-inject': 'enabled' });
    labelled('corrected', {});
    assert.deepEqual(events, []);
    await clock.advance(1000);
    const note =
      "the namespace's label istio.io/rev=bleu has no effect: there is no revision or tag bleu; existing names: blue, off";
    assert.deepEqual(events, [`undefined/lost Warning UnknownRevision: ${note}`]);
    stop.abort();
    labelled('late', { 'istio.io/rev': 'bleu' });
    await clock.advance(1000);
    assert.equal(events.length, 1);
  });

  it('reports no pod that is injected, did not ask for injection, or was deleted', async () => {
    list();
    arrive(pod('one', { annotations: { 'sidecar-injector.io/config': 'blue.0a1b2c3d' } }));
    arrive(pod('two', { annotations: { 'sidecar.istio.io/status': '{}' } }));
    arrive(pod('three', { namespace: 'elsewhere' }));
    const four = pod('four');
    arrive(four);
    stores.pods.remove(stores.keepOfPod(four));
    await clock.advance(5000);
    assert.deepEqual(events, []);
  });

  it('writes Warnings about a paused InjectorConfig and about a pod that no InjectorConfig selects', async () => {
    list();
    arrive(pod('web', { namespace: 'elsewhere', labels: { 'istio.io/rev': 'off' } }));
    arrive(pod('api', { namespace: 'elsewhere', labels: { 'sidecar.istio.io/inject': 'true' } }));
    await clock.advance(1000);
    assert.deepEqual(counts, ['off Paused', ' NotSelected']);
    assert.ok(events.every((event) => event.includes(' Warning ')));
  });

  it('examines existing pods only if they were created shortly before the leadership began', async () => {
    const at = (secondsAgo: number) => new Date(clock.now().getTime() - secondsAgo * 1000).toISOString();
    list(pod('old', { creationTimestamp: at(61) }), pod('young', { creationTimestamp: at(5) }), pod('ageless'));
    await clock.advance(1000);
    assert.deepEqual(counts, ['blue PolicyDisabled']);
    assert.match(events[0] ?? '', /^shop\/young /);
    list(pod('old'), pod('young'), pod('new'));
    await clock.advance(1000);
    assert.equal(counts.length, 2);
  });

  it('counts up to 1000 waiting pods, and writes few Events', async () => {
    list();
    for (let index = 0; index < 1200; index += 1) {
      const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true };
      arrive(pod(`p${index}`, { ownerReferences: [reference] }));
    }
    await clock.advance(2000);
    assert.equal(counts.length, 1000);
    assert.equal(events.length, 3);
    assert.equal(omitted, 200 + 997);
  });

  it('omits pods of the namespace that fills the queue', async () => {
    list();
    for (let index = 0; index < 1000; index += 1) arrive(pod(`p${index}`));
    const labels = { 'istio.io/rev': 'blue' };
    arrive(pod('victim', { namespace: 'other', labels }));
    assert.equal(omitted, 1);
    await clock.advance(2000);
    assert.equal(events.filter((event) => event.startsWith('other/victim ')).length, 1);
  });

  it('examines each pod one second after its creation', async () => {
    list();
    arrive(pod('one'));
    await clock.advance(600);
    arrive(pod('two'));
    await clock.advance(600);
    assert.equal(events.length, 1);
    await clock.advance(600);
    assert.equal(events.length, 2);
  });

  it('continues after a failure, and stops when the leadership ends', async () => {
    list();
    failure = new Error('cannot load');
    arrive(pod('one'));
    await clock.advance(1000);
    assert.deepEqual(logger.lines.at(-1)?.fields, { namespace: 'shop', name: 'one', error: 'cannot load' });
    failure = undefined;
    arrive(pod('two'));
    await clock.advance(1000);
    assert.equal(events.length, 1);
    arrive(pod('three'));
    stop.abort();
    await clock.advance(1000);
    assert.equal(events.length, 1);
  });
});

describe('PodEventLimits', () => {
  /** Returns how many of 100 pods get an Event; `*` in `maker` gives each pod its own maker. */
  const taken = (limits: PodEventLimits, maker: string, reason = 'HostNetwork', namespace = 'shop') =>
    Array.from({ length: 100 }, (_, index) => limits.take(namespace, maker.replace('*', `${index}`), reason)).filter(
      Boolean,
    ).length;

  it('allows three Events per maker and reason in ten minutes', async () => {
    const clock = new ManualClock();
    const limits = new PodEventLimits(clock);
    assert.deepEqual([taken(limits, 'r1'), taken(limits, 'r1', 'PolicyDisabled'), taken(limits, 'r2')], [3, 3, 3]);
    await clock.advance(600_000);
    assert.equal(taken(limits, 'r1'), 3);
  });

  it('allows a burst of 25 Events, then one a second, for all makers together', async () => {
    const clock = new ManualClock();
    const limits = new PodEventLimits(clock);
    assert.equal(taken(limits, 'a*'), 25);
    await clock.advance(10_000);
    assert.equal(taken(limits, 'b*'), 10);
  });

  it('leaves half of the Events to another namespace, and a third to a third one', async () => {
    const clock = new ManualClock();
    const limits = new PodEventLimits(clock);
    const inNamespaces = (...names: string[]) => names.map((name) => taken(limits, `${name}*`, `${++reasons}`, name));
    let reasons = 0;
    assert.deepEqual(inNamespaces('a', 'b', 'c'), [25, 13, 9]);
    const sums = [0, 0];
    for (let second = 0; second < 120; second += 1) {
      await clock.advance(1000);
      const more = inNamespaces('a', 'b');
      if (second >= 60) for (const [index, count] of more.entries()) sums[index]! += count;
    }
    assert.deepEqual(sums, [30, 30], 'one Event a second in all');
  });
});
