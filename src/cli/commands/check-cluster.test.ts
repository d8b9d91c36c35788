import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { failure, json } from '../../kube/testdata/fake-api-server.ts';
import type { CheckReport } from '../check/check-report.ts';
import { sees, type Seen } from '../testdata/recording-terminal.ts';
import { RevisionCluster } from '../testdata/revision-cluster.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

const spec = { containers: [{ name: 'app', image: 'app' }] };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { template: { metadata: { labels: { app: 'web' } }, spec } },
};

describe('injector check against a cluster', () => {
  let cluster: RevisionCluster;
  let entry: string;
  const { write } = temporaryFolder();
  before(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    entry = `1-24.${cluster.addRevision('1-24')}`;
    cluster.addNamespace('shop', { 'istio.io/rev': '1-24' });
    cluster.addNamespace('plain');
    cluster.addNamespace('default');
    cluster.memory.put('deployments', deployment);
    cluster.memory.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare', namespace: 'shop', annotations: { 'sidecar-injector.io/config': '1-24.00000000' } },
      spec,
    });
    cluster.memory.writes.length = 0;
  });
  after(() => cluster.stop());
  afterEach(() => {
    cluster.memory.faults.length = 0;
  });
  const check = (...argv: string[]): Promise<Seen> => cluster.injector(['check', ...argv]);
  const reports = async (...argv: string[]): Promise<CheckReport[]> => {
    const { out, errors } = await check(...argv, '-o', 'json');
    assert.equal(errors, '');
    return JSON.parse(out) as CheckReport[];
  };
  const fileOf = (...objects: object[]): string =>
    write('objects.json', objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  /** Sets the API server's answer to a dry run of the creation of a pod. */
  const onDryRun = (answer: (pod: KubernetesObject) => KubernetesObject | string): void => {
    let asked = '';
    cluster.memory.faults.push({
      matches: (method, path, body) => {
        asked = body;
        return method === 'POST' && path === '/api/v1/namespaces/shop/pods';
      },
      answer: (response) => {
        const answered = answer(JSON.parse(asked) as KubernetesObject);
        if (typeof answered === 'string') failure(response, 400, 'BadRequest', answered);
        else json(response, 201, answered);
      },
    });
  };

  it('reports an injected workload with exit status 0, and writes nothing', async () => {
    sees(await check('deploy', 'web', '-n', 'shop'), 0, {
      out: /^deployment\/web in namespace shop: Injected 1-24\.[0-9a-f]{8}\n/,
    });
    assert.deepEqual(cluster.changes, []);
  });

  it('reports the current and the new configuration of an existing pod', async () => {
    const [report] = await reports('bare', '-n', 'shop');
    assert.deepEqual([report?.result, report?.injectedBy, report?.existing?.state], ['Injected', [entry], 'Stale']);
  });

  it('prints one line per object of a namespace, and exits with the worst result of the objects', async () => {
    const { out, code } = await check('namespace/shop');
    assert.equal(code, 0);
    assert.deepEqual(
      (await reports('namespace/shop')).map(({ kind, name, result }) => `${kind}/${name} ${result}`),
      ['Namespace/shop Injected', 'Deployment/web Injected', 'Pod/bare Injected'],
    );
    assert.ok(!out.includes('namespaceSelector'), 'steps are printed only with --steps');
    assert.match((await check('namespace/shop', '--steps')).out, /namespaceSelector/);
  });

  it('exits with the result of the namespace if the namespace has no objects', async () => {
    sees(await check('ns/plain'), 3, { out: /^namespace\/plain in namespace plain: NotInjected\n/ });
  });

  it('uses namespace default if -n is missing', async () => {
    sees(await check('deployment/web'), 2, {
      errors: /there is no Deployment web in namespace default; none exist/,
    });
    sees(await check('deploymnt', 'web', '-n', 'shop'), 2, {
      errors: /there is no Pod deploymnt in namespace shop; .*; for the type deployment, write deployment\/NAME/,
    });
    sees(await check('deployment/web', '-n', 'shp'), 2, {
      errors: /there is no namespace shp; .*did you mean shop\?/,
    });
  });

  it('checks a workload from a file with the webhooks of the cluster', async () => {
    const { metadata, ...others } = deployment;
    const file = fileOf({ ...others, metadata: { name: metadata.name } });
    const [there] = await reports('-f', file, '-n', 'shop');
    const [elsewhere] = await reports('-f', file, '-n', 'plain');
    assert.deepEqual([there?.result, elsewhere?.result], ['Injected', 'NotInjected']);
  });

  it('says first that a label belongs into the pod template', async () => {
    const labels = { 'istio.io/rev': '1-24' };
    const file = fileOf({ ...deployment, metadata: { name: 'web', namespace: 'plain', labels } });
    const [report] = await reports('-f', file);
    assert.equal(report?.reason, 'MisplacedLabel');
    assert.match(report.command ?? '', /^kubectl patch deployment web .*"istio\.io\/rev":"1-24"/);
  });

  it('exits with 2 for a namespace that does not exist, also with --dry-run', async () => {
    cluster.memory.fail((method) => method === 'POST', 404, 'NotFound', 'namespaces "none" not found');
    const file = fileOf({ ...deployment, metadata: { name: 'web', namespace: 'none' } });
    sees(await check('-f', file, '--dry-run'), 2, { errors: /--dry-run: namespaces "none" not found/ });
    sees(await check('namespace/none'), 2, {
      errors: /there is no Namespace none; existing names: default, plain, shop/,
    });
  });

  it('uses the labels of a Namespace in the file', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } };
    const [report] = await reports('-f', fileOf(namespace, deployment));
    assert.equal(report?.result, 'NotInjected');
  });

  it('--dry-run reports that the API server confirms the result', async () => {
    const annotations = { 'sidecar-injector.io/config': entry };
    onDryRun((pod) => ({ ...pod, metadata: { ...pod.metadata, annotations } }));
    sees(await check('deploy/web', '-n', 'shop', '--dry-run'), 0, {
      out: /dry run by the API server: the pod would be stored with the sidecar of\s+1-24\.[0-9a-f]{8}\n/,
    });
    const [report] = await reports('deploy/web', '-n', 'shop', '--dry-run');
    assert.deepEqual([report?.dryRun?.foreseen, report?.reason], [true, 'Injected']);
  });

  it('--dry-run reports that the API server has another result', async () => {
    onDryRun(() => 'quota');
    const { out, code } = await check('deploy/web', '-n', 'shop', '--dry-run');
    assert.equal(code, 4);
    assert.match(out, /^deployment\/web in namespace shop: Refused\n {2}why: quota\n/);
    assert.match(out, /dry run by the API server: quota \(this differs from the explanation\)/);
  });

  it('without a replica, says what the policy of the own webhook does, and what to start', async () => {
    cluster.addRevision('lax', { webhook: { failurePolicy: 'Ignore' } });
    cluster.addNamespace('lax', { 'istio.io/rev': 'lax' });
    cluster.memory.remove('leases', 'injector-replica-web-1', 'injection');
    const { out, code } = await check('-f', fileOf(deployment));
    assert.equal(code, 1);
    const lax = fileOf({ ...deployment, metadata: { name: 'web', namespace: 'lax' } });
    const why = 'no replica is live: pods that webhooks select start without a sidecar (failurePolicy Ignore); start';
    for (const more of [[], ['--dry-run']]) {
      const { out } = await check('-f', lax, ...more);
      assert.match(out, more.length === 0 ? /: Unknown\n/ : /: NotInjected\n[^]*: the pod would be stored without/);
      assert.ok(out.replaceAll(/\n +/g, ' ').includes(why), out);
      assert.doesNotMatch(out, /refuses|differs/);
    }
    assert.match(out, /refuses pods that webhooks/);
  });
});
