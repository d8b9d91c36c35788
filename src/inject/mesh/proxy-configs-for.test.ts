import assert from 'node:assert/strict';
import { loadInjector } from '../injector.ts';
import { inject } from '../inject.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Pod } from '../pod/pod.ts';
import { logFiles, proxyFiles } from '../testdata/configurations.ts';
import { proxyConfigsFor } from './proxy-configs-for.ts';

/** Returns a pod that counts reads of its annotation. */
function countingPod(value: string): { pod: Pod; reads: () => number } {
  let count = 0;
  const annotations = Object.defineProperty({}, 'proxy.istio.io/config', {
    enumerable: true,
    get: () => {
      count += 1;
      return value;
    },
  });
  return { pod: { metadata: { annotations }, spec: { containers: [] } }, reads: () => count };
}

describe('proxyConfigsFor', () => {
  it('parses the annotation only once, on first use', () => {
    const { pod, reads } = countingPod('{concurrency: 7, holdApplicationUntilProxyStarts: true}');
    const configs = proxyConfigsFor(loadInjector(proxyFiles), pod, undefined);
    assert.equal(configs.meshConfig.rootNamespace, 'istio-system');
    assert.equal(reads(), 0);
    assert.equal(configs.proxyConfig.concurrency, 7);
    assert.equal(configs.proxyConfig, configs.proxyConfig);
    assert.equal(configs.holdApplication, true);
    assert.equal(reads(), 1);
  });

  it('applies a resource that selects the pod over the annotation', () => {
    const { pod } = countingPod('{concurrency: 7, statusPort: 15999}');
    const metadata = { name: 'own', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' };
    const configs = proxyConfigsFor(
      loadInjector(proxyFiles),
      { ...pod, metadata: { ...pod.metadata, namespace: 'shop', labels: { app: 'web' } } },
      [
        { metadata, spec: { selector: { matchLabels: { app: 'web' } }, concurrency: 1 } },
        { metadata, spec: { concurrency: 3 } },
      ],
    );
    assert.deepEqual([configs.proxyConfig.concurrency, configs.proxyConfig.statusPort], [1, 15999]);
  });

  it('applies the annotation to the whole mesh for the command line', () => {
    const injector = loadInjector(proxyFiles, { semantics: 'KubeInject' });
    const plain = countingPod('{}').pod;
    const { meshConfig } = proxyConfigsFor(injector, countingPod('statusPort: 15999').pod, undefined);
    const { statusPort } = meshConfig.defaultConfig as JsonObject;
    assert.deepEqual([meshConfig.rootNamespace, statusPort], ['istio-system', 15999]);
    assert.equal(proxyConfigsFor(injector, { ...plain, metadata: {} }, undefined).meshConfig, injector.meshConfig);
    assert.throws(() => proxyConfigsFor(injector, countingPod('{').pod, undefined), { reason: 'InvalidProxyConfig' });
  });

  it('has no own getters, because V8 would then retain every pod until a full collection', () => {
    const configs = proxyConfigsFor(loadInjector(proxyFiles), countingPod('{}').pod, undefined);
    const own = Object.values(Object.getOwnPropertyDescriptors(configs));
    assert.ok(own.every((descriptor) => !('get' in descriptor)));
  });

  for (const value of ['drainDuration: 99d', '{', `drainDuration: ${'9'.repeat(1000)}s`]) {
    it(`ignores the annotation in a family without a proxy: ${value.slice(0, 30)}`, () => {
      const request = {
        namespace: 'shop',
        pod: {
          metadata: { name: 'web', annotations: { 'proxy.istio.io/config': value } },
          spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
      };
      assert.equal(inject(loadInjector(logFiles), request).outcome, 'injected');
      assert.equal(inject(loadInjector(proxyFiles), request).outcome, 'failed');
    });
  }
});
