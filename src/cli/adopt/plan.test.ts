import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { RevisionCluster } from '../testdata/revision-cluster.ts';
import { istioRevision } from './testdata/istio-cluster.ts';

describe('injector adopt plan', () => {
  let cluster: RevisionCluster;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());
  const install = (options: Parameters<typeof istioRevision>[0] = {}): void => {
    const { configurations, configMaps, deployments } = istioRevision(options);
    for (const object of configurations) cluster.memory.put('mutatingwebhookconfigurations', object);
    for (const object of configMaps) cluster.memory.put('configmaps', object);
    for (const object of deployments) cluster.memory.put('deployments', object);
  };

  it('prints objects for a file and the table for a person, and writes nothing', async () => {
    install({ revision: '1-24' });
    const { code, out, errors } = await cluster.injector(['adopt', 'plan']);
    assert.equal(code, 0);
    const documents = parseAllDocuments(out).map((each) => each.toJS() as { kind: string; metadata: object });
    assert.deepEqual(
      documents.map(({ kind, metadata }) => [kind, metadata]),
      [['InjectorConfig', { name: '1-24' }]],
    );
    assert.match(errors, /^OF +SETTING +VALUE +GOES TO\n/);
    assert.match(errors, /1-24 .*failurePolicy +Fail +the default/);
    assert.deepEqual(cluster.changes, []);
  });

  it('prints no object and ends with 4 if something is refused', async () => {
    install({ availableReplicas: 0 });
    const { code, out, errors } = await cluster.injector(['adopt', 'plan']);
    assert.deepEqual([code, out], [4, '']);
    assert.match(errors, /\nrefused: Deployment istio-system\/istiod has no available replica/);
    const asJson = await cluster.injector(['adopt', 'plan', '-o', 'json']);
    const { objects, refusals } = JSON.parse(asJson.out) as { objects: unknown[]; refusals: unknown[] };
    assert.deepEqual([asJson.code, objects.length, refusals.length], [4, 0, 1]);
  });

  it('takes the Deployment of an istiod that runs elsewhere from a file, and the path from the URL', async () => {
    const url = 'https://istiod.example:15017/inject/cluster/c1';
    const webhook = { clientConfig: { caBundle: 'Y2E=', url } };
    const { deployments } = istioRevision({ webhook, env: [{ name: 'PLATFORM', value: 'openshift' }] });
    install({ webhook });
    const refused = await cluster.injector(['adopt', 'plan']);
    assert.deepEqual([refused.code, refused.out], [4, '']);
    const file = join(mkdtempSync(join(tmpdir(), 'plan-')), 'istiod.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: deployments }));
    const { code, out, errors } = await cluster.injector(['adopt', 'plan', '--istiod', file]);
    assert.equal(code, 0, errors);
    assert.match(out, /platform: OpenShift/);
    assert.match(out, /ISTIO_META_CLUSTER_ID: c1/);
    assert.match(errors, /default +url +https:\/\/ +nothing: our webhook/);
  });

  it('asks for the namespace of istiod if it finds no webhook', async () => {
    install();
    const { code, errors } = await cluster.injector(['adopt', 'plan', '-i', 'mesh']);
    assert.equal(code, 2);
    assert.match(errors, /no webhook of Istio's injector calls a Service in namespace mesh; name .* with -i/);
  });
});
