import assert from 'node:assert/strict';
import { injectorConfig } from '../testdata/operator-fixture.ts';
import { ProcessCluster } from '../testdata/operator-process.ts';

describe('InjectorOperator', () => {
  let cluster: ProcessCluster;
  beforeEach(async () => {
    cluster = new ProcessCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());

  it('makes an InjectorConfig ready, and maintains a validating webhook', async () => {
    const process = await cluster.launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.isReady('blue'));
    assert.equal(process.operator.controller.synced, true);
    assert.equal(process.operator.controller.leading, true);
    assert.equal(process.injectors.size, 1);
    assert.ok(cluster.webhook('blue'));
    await cluster.until(
      () => cluster.get('validatingwebhookconfigurations', 'sidecar-injector-default-validator') !== undefined,
    );
    assert.ok(process.logger.lines.some(({ message }) => message.startsWith('no owner is set')));
  });

  it('publishes once the owner exists', async () => {
    await cluster.launch('one', { owner: 'injector' });
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.get('injectorconfigs', 'blue')?.status !== undefined);
    assert.equal(cluster.webhook('blue'), undefined);
    cluster.put('mutatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'injector' },
    });
    await cluster.until(() => cluster.isReady('blue'));
  });

  it('does not become leader while it cannot list a resource, such as RevisionTags', async () => {
    const message = 'the server could not find the requested resource';
    cluster.fail((_method, path) => path.endsWith('/revisiontags'), 404, 'NotFound', message);
    const process = await cluster.launch();
    await cluster.until(() =>
      process.logger.lines.some(({ message }) => /cannot list or watch revisiontags.*its CustomResource/.test(message)),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(!cluster.names('leases').includes('injector-leader-default'));
    assert.equal(process.operator.controller.synced, false);
    cluster.faults.length = 0;
    await cluster.until(() => process.operator.controller.leading);
    assert.ok(cluster.names('leases').includes('injector-leader-default'));
  });

  it('reconciles other InjectorConfigs while one fails', async () => {
    const process = await cluster.launch();
    const isBad = (method: string, path: string): boolean => method !== 'GET' && path.includes('sidecar-injector-bad');
    cluster.fail(isBad, 500, 'InternalError', 'no');
    cluster.put('injectorconfigs', injectorConfig('bad'));
    cluster.put('injectorconfigs', injectorConfig('good'));
    await cluster.until(() => cluster.isReady('good'));
    assert.ok(process.reconciled.includes('bad Error'));
    assert.ok(!cluster.isReady('bad'));
    cluster.faults.length = 0;
    await cluster.until(() => cluster.isReady('bad'));
  });

  it("supports the library's methods for subclasses, which use the chosen cluster", async () => {
    const { operator } = await cluster.launch();
    const { url } = cluster.server;
    assert.equal(operator.server(), url);
    assert.equal(operator.uri('', 'v1', 'pods', 'n'), `${url}/api/v1/namespaces/n/pods`);
    assert.equal(operator.uri('example.com', 'v1', 'widgets'), `${url}/apis/example.com/v1/widgets`);
    const seen: string[] = [];
    let failures = 1;
    await operator.watchPods(({ type, meta }) => {
      seen.push(`${type} ${meta.id} ${meta.namespace ?? ''}/${meta.name}`);
      failures -= 1;
      return failures < 0 ? Promise.resolve() : Promise.reject(new Error('not now'));
    });
    cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'n' } });
    await cluster.until(() => seen.length === 2);
    cluster.remove('pods', 'a', 'n');
    await cluster.until(() => seen.length === 4);
    assert.deepEqual(seen.slice(2), ['MODIFIED pods.v1 n/a', 'DELETED pods.v1 n/a']);
    assert.deepEqual(seen.slice(0, 2), Array<string>(2).fill('ADDED pods.v1 n/a'));
  });

  it('ignores the default kubeconfig', async () => {
    const { KUBECONFIG: before } = process.env;
    process.env.KUBECONFIG = '/nowhere/kubeconfig';
    try {
      await cluster.launch();
      assert.equal(process.env.KUBECONFIG, '/nowhere/kubeconfig');
    } finally {
      if (before === undefined) delete process.env.KUBECONFIG;
      else process.env.KUBECONFIG = before;
    }
  });
});
