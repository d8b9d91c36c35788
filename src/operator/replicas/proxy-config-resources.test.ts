import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, until } from '../../kube/testdata/manual-clock.ts';
import { ProxyConfigResources } from './proxy-config-resources.ts';
import { MemoryCluster } from '../testdata/memory-cluster.ts';

const proxyConfig = (name: string, concurrency: number): KubernetesObject => ({
  apiVersion: 'networking.istio.io/v1beta1',
  kind: 'ProxyConfig',
  metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { concurrency },
});

describe('ProxyConfigResources', () => {
  let cluster: MemoryCluster;
  let clock: ManualClock;
  let resources: ProxyConfigResources;
  const logger = capturingLogger();
  beforeEach(async () => {
    cluster = new MemoryCluster();
    clock = new ManualClock();
    logger.lines.length = 0;
    await cluster.start();
    resources = new ProxyConfigResources({ client: cluster.client, clock, random: () => 0, logger });
  });
  afterEach(async () => {
    resources.stop();
    await cluster.stop();
  });

  const collection = '/apis/networking.istio.io/v1beta1/proxyconfigs';
  /** Makes all requests for the collection fail. */
  function failRequests(code: number, reason: string): void {
    cluster.fail((_, path) => path === collection, code, reason, 'proxyconfigs');
  }
  const requestCount = (): number => cluster.server.requests.filter(({ path }) => path === collection).length;
  const concurrencies = (): unknown[] => resources.list().map(({ spec }) => spec.concurrency);

  it('watches ProxyConfigs, and returns the same list object while nothing changes', async () => {
    cluster.put('proxyconfigs', proxyConfig('one', 1));
    assert.equal(resources.settled, false);
    resources.start();
    await until(() => resources.settled && resources.list().length === 1);
    const first = resources.list();
    const metadata = { name: 'one', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' };
    assert.deepEqual(first, [{ metadata, spec: { concurrency: 1 } }]);
    assert.equal(resources.list(), first);
    cluster.put('proxyconfigs', proxyConfig('two', 2));
    await until(() => resources.list().length === 2);
    assert.notEqual(resources.list(), first);
    assert.equal(resources.list().find(({ metadata }) => metadata.name === 'one')?.spec, first[0]?.spec);
    cluster.edit('proxyconfigs', 'one', 'shop', (object) => {
      object.spec = { concurrency: 3 };
    });
    await until(() => concurrencies().includes(3));
    cluster.remove('proxyconfigs', 'one', 'shop');
    await until(() => resources.list().length === 1);
  });

  it('returns no ProxyConfigs while the kind is not served, logs nothing, and lists them later', async () => {
    failRequests(404, 'NotFound');
    cluster.put('proxyconfigs', proxyConfig('one', 1));
    resources.start();
    const none = resources.list();
    await until(() => resources.settled && clock.pending().includes(60_000));
    assert.deepEqual(none, []);
    await clock.advance(59_999);
    assert.equal(requestCount(), 1);
    cluster.faults.length = 0;
    await clock.advance(1);
    await until(() => resources.list().length === 1);
    assert.deepEqual(logger.lines, []);
  });

  it('drops all ProxyConfigs once the kind is no longer served', async () => {
    cluster.put('proxyconfigs', proxyConfig('one', 1));
    resources.start();
    await until(() => resources.list().length === 1);
    failRequests(404, 'NotFound');
    cluster.dropWatches();
    // The reflector retries the watch first, then the list.
    for (let turn = 0; turn < 20 && resources.list().length > 0; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.advance(2000);
    }
    assert.deepEqual(resources.list(), []);
    assert.ok(logger.lines.some(({ message }) => message.includes('no longer served')));
  });

  it('names a missing permission, and retries', async () => {
    failRequests(403, 'Forbidden');
    resources.start();
    await until(() => resources.settled && clock.pending().includes(60_000));
    assert.match(logger.lines[0]?.message ?? '', /grant the operator list and watch on proxyconfigs/);
    assert.equal(logger.lines.length, 1);
    cluster.faults.length = 0;
    cluster.put('proxyconfigs', proxyConfig('one', 1));
    await clock.advance(60_000);
    await until(() => resources.list().length === 1);
  });

  it('retries after an error from the API server', async () => {
    failRequests(500, 'InternalError');
    resources.start();
    await until(() => requestCount() === 1 && clock.pending().length > 0);
    assert.equal(resources.settled, false);
    cluster.faults.length = 0;
    cluster.put('proxyconfigs', proxyConfig('one', 1));
    await clock.advance(2000);
    await until(() => resources.settled && resources.list().length === 1);
  });
});
