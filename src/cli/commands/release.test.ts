import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { gateOf, replacingAnnotation } from '../../api/names.ts';
import { SwitchCluster } from '../testdata/switch-cluster.ts';

const version = 'admissionregistration.k8s.io/v1';

describe('release of held pods', () => {
  let cluster: SwitchCluster;
  beforeEach(async () => {
    cluster = new SwitchCluster();
    await cluster.start();
    cluster.install();
    for (const [name, revision] of [
      ['blue', 'blue'],
      ['second', 'green'],
    ] as const) {
      const webhook = `sidecar-injector-${name}`;
      const labels = {
        'app.kubernetes.io/managed-by': 'sidecar-injector',
        'sidecar-injector.io/revision': revision,
        'sidecar-injector.io/injector-config': name,
      };
      const ownerReferences = [
        { apiVersion: version, kind: 'MutatingWebhookConfiguration', name: 'injector-operator', uid: 'u' },
      ];
      const policy = {
        apiVersion: version,
        kind: 'MutatingAdmissionPolicy',
        metadata: { name: webhook, labels, ownerReferences },
        spec: {},
      };
      cluster.put('mutatingadmissionpolicies', policy);
      cluster.put('mutatingadmissionpolicybindings', {
        ...policy,
        kind: 'MutatingAdmissionPolicyBinding',
        metadata: { ...policy.metadata, name: `${webhook}.rev` },
        spec: { policyName: webhook },
      });
      hold(`web-${name}`, [gateOf(webhook), 'example.com/quota']);
    }
  });
  afterEach(() => cluster.stop());

  function hold(name: string, gates: readonly string[], metadata: Partial<KubernetesObject['metadata']> = {}): void {
    cluster.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'shop', ...metadata },
      spec: { containers: [], schedulingGates: gates.map((each) => ({ name: each })) },
      status: { phase: 'Pending' },
    });
  }
  const gates = (name: string): string => {
    const spec = cluster.get('pods', name, 'shop')?.spec as { schedulingGates?: { name: string }[] } | undefined;
    return spec === undefined ? 'gone' : (spec.schedulingGates ?? []).map((each) => each.name).join();
  };
  const policies = (): string =>
    [...cluster.names('mutatingadmissionpolicies'), ...cluster.names('mutatingadmissionpolicybindings')].join();

  it('injector disable deletes the policies of the selected revision, and releases only its pods', async () => {
    const { code, out } = await cluster.run('disable', '--revision', 'green');
    assert.equal(code, 0);
    assert.deepEqual(out.slice(2, -1), [
      'MutatingAdmissionPolicyBinding sidecar-injector-second.rev: deleted',
      'MutatingAdmissionPolicy sidecar-injector-second: deleted',
      '1 held pod: released, without a sidecar',
    ]);
    assert.equal(gates('web-second'), 'example.com/quota');
    assert.equal(gates('web-blue'), `${gateOf('sidecar-injector-blue')},example.com/quota`);
    assert.equal(policies(), 'sidecar-injector-blue,sidecar-injector-blue.rev');
  });

  it('injector disable --all releases also the pods of webhooks that are unknown', async () => {
    hold('web-old', [gateOf('sidecar-injector-old')]);
    const { out } = await cluster.run('disable', '--all');
    assert.ok(out.includes('3 held pods: released, without a sidecar'), out.join('\n'));
    assert.equal(gates('web-old') + policies(), '');
  });

  it('injector release keeps the policies, and deletes a pod that its Job has replaced', async () => {
    hold('job-1', [gateOf('sidecar-injector-blue')], { annotations: { [replacingAnnotation]: 'u' } });
    assert.deepEqual(await cluster.run('release', '--revision', 'blue'), {
      code: 0,
      out: ['2 held pods: released, without a sidecar'],
    });
    assert.equal(gates('job-1'), 'gone');
    assert.equal(gates('web-blue'), 'example.com/quota');
    assert.equal(policies().split(',').length, 4);
    assert.deepEqual(await cluster.run('release', '--revision', 'blue'), { code: 0, out: ['no pod is held'] });
  });

  it('only prints the changes in a dry run', async () => {
    const { out } = await cluster.run('disable', '--all', '--dry-run');
    assert.ok(out.includes('MutatingAdmissionPolicy sidecar-injector-blue: would be deleted'));
    assert.ok(out.includes('2 held pods: would be released'));
    assert.equal(policies().split(',').length, 4);
    assert.deepEqual((await cluster.run('release', '--all', '--dry-run')).out, ['2 held pods: would be released']);
  });

  it('deletes the owner first, and waits until the webhooks are collected', async () => {
    cluster.changed = () => {
      if (cluster.names('mutatingwebhookconfigurations').includes('injector-operator')) return;
      cluster.changed = () => undefined;
      for (const each of [
        'mutatingwebhookconfigurations',
        'mutatingadmissionpolicies',
        'mutatingadmissionpolicybindings',
      ])
        for (const name of cluster.names(each)) cluster.remove(each, name);
    };
    const { code, out } = await cluster.run('release', '--owner', 'injector-operator');
    assert.deepEqual([code, out], [0, ['2 held pods: released, without a sidecar']]);
    assert.equal(gates('web-blue'), 'example.com/quota');
  });

  it('reports pods and policies that it may not change', async () => {
    const isPod = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/pods/');
    const isPolicy = (method: string, path: string): boolean => method === 'DELETE' && path.includes('policies/');
    cluster.fail(isPod, 403, 'Forbidden', 'no right for pods');
    cluster.fail(isPolicy, 403, 'Forbidden', 'no right for policies');
    const { code, out } = await cluster.run('disable', '--all');
    assert.equal(code, 1);
    assert.ok(
      out.includes('MutatingAdmissionPolicy sidecar-injector-blue: not deleted: no right for policies'),
      out.join('\n'),
    );
    assert.ok(out.includes('2 pods: still held: no right for pods'), out.join('\n'));
  });

  it('needs no permission for pods while no InjectorConfig uses Hold', async () => {
    const isPolicy = (_method: string, path: string): boolean => path.includes('/mutatingadmissionpolic');
    cluster.fail(isPolicy, 403, 'Forbidden', 'no right to list policies');
    assert.equal((await cluster.run('disable', '--revision', 'green')).code, 0);
    cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.spec = { ...(object.spec as object), webhook: { failurePolicy: 'Hold' } };
    });
    const { code, out } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.ok(out.includes('held pods: not released: no right to list policies'), out.join('\n'));
  });

  it('tries a pod again that has changed meanwhile', async () => {
    cluster.fail((method, path) => method === 'PATCH' && path.includes('/pods/'), 409, 'Conflict', 'it has changed', 1);
    assert.deepEqual((await cluster.run('release', '--all')).out, ['2 held pods: released, without a sidecar']);
  });
});
