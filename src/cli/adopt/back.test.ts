import assert from 'node:assert/strict';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { adoptionAnnotation } from '../../api/names.ts';
import { RevisionCluster } from '../testdata/revision-cluster.ts';
import { standbyCondition } from './standby-condition.ts';
import { istioWebhook } from './testdata/istio-cluster.ts';

describe('injector adopt back', () => {
  let cluster: RevisionCluster;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    cluster.addRevision('default');
  });
  afterEach(() => cluster.stop());

  it('asks for new pods of a few workloads, however many there are', async () => {
    cluster.memory.put('mutatingwebhookconfigurations', istioWebhook());
    const metadata = {
      name: 'shop',
      labels: { 'istio.io/rev': 'adopted' },
      annotations: { [adoptionAnnotation]: JSON.stringify({ 'istio-injection': 'enabled' }) },
    };
    cluster.memory.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    const status = { 'sidecar.istio.io/status': '{}' };
    for (let index = 0; index < 40; index += 1)
      cluster.addPod('shop', `app-${index}`, undefined, { annotations: status });
    cluster.memory.changesPod = (pod) => {
      pod.metadata = { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...status } };
    };
    const { code, out, errors } = await cluster.injector(['adopt', 'back']);
    assert.equal(code, 0, errors);
    assert.match(out, /namespace shop: given back; Istio's injector answers for new pods of 1\d workloads/);
    assert.equal(cluster.memory.get('namespaces', 'shop')?.metadata.labels?.['istio-injection'], 'enabled');
    assert.ok(cluster.memory.dryRunPods.length < 20, `${cluster.memory.dryRunPods.length} dry runs`);
  });

  it("lets this injector stand by if Istio's chart has left out the webhook", async () => {
    // An operator sees each change at once.
    cluster.memory.edit('injectorconfigs', 'default', undefined, (config) => {
      config.status = { ...(config.status as object), observedGeneration: 100 };
    });
    const { code, errors } = await cluster.injector(['adopt', 'back']);
    assert.equal(code, 3);
    assert.match(errors, /Istio's webhook does not exist, so nothing was given back\napply Istio's chart without/);
    const { spec } = cluster.memory.get('injectorconfigs', 'default') as unknown as InjectorConfig;
    assert.deepEqual([spec.webhook.takeover, spec.webhook.matchConditions], [true, [standbyCondition]]);
  });
});
