import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { runCommand, type Seen } from '../testdata/recording-terminal.ts';

const home = 'sidecar-injector-system';

describe('injector install and uninstall', () => {
  let cluster: RevisionCluster;
  let availableReplicas: number;
  const injector = (line: string, answer?: string): Promise<Seen> => cluster.injector(line.split(' '), answer);
  const names = (kind: string): string[] => cluster.memory.names(kind);
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    availableReplicas = 9;
    const quota = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no quota' };
    const conditions = [{ type: 'Established', status: 'True' }, quota];
    // Simulate the controllers.
    cluster.memory.changed = () => {
      const status = { observedGeneration: 99, updatedReplicas: 9, availableReplicas, conditions };
      for (const [kind, namespace] of [['customresourcedefinitions'], ['deployments', home]] as const)
        for (const found of names(kind).map((name) => cluster.memory.get(kind, name, namespace)))
          if (found !== undefined) cluster.memory.put(kind, { ...found, status });
    };
  });
  afterEach(() => cluster.stop());

  it('is documented with its default namespace', () => {
    const files = ['docs/install.md', 'docs/observability.md', 'charts/injector-operator/README.md'];
    const named = files.flatMap(
      (file) => readFileSync(file, 'utf8').match(/(?<=--namespace )sidecar-injector\S*/g) ?? [],
    );
    assert.deepEqual(named, [home, home, home]);
  });

  it('applies the chart, changes nothing the second time, and removes obsolete objects', async () => {
    assert.match(
      (await injector('install')).out,
      /Namespace .*: created\nC[^]*-webhook: 9 of 3 available[^]*runs in namespace/,
    );
    assert.doesNotMatch((await injector('install')).out, /: (?:created|configured|deleted)/);
    assert.match(
      (await injector('install --set mode=all --timeout 0')).out,
      /was applied to namespace sidecar-injector-system\n$/,
    );
    assert.deepEqual(names('deployments'), ['injector-operator']);
  });

  it('reports why a Deployment is not available, and conflicts', async () => {
    availableReplicas = 1;
    const labels = Object.fromEntries(
      ['name', 'instance'].map((key) => [`app.kubernetes.io/${key}`, 'injector-operator']),
    );
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    const metadata = { name: 'x', namespace: home, labels: { ...labels, 'app.kubernetes.io/component': 'webhook' } };
    const status = { containerStatuses: [{ state: { waiting } }] };
    cluster.memory.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, status });
    const { errors, code } = await injector('install --timeout 0.1');
    assert.match(
      errors,
      /Deployment .*-webhook: 1 of 3 available; FailedCreate: no quota; ImagePullBackOff: no such image[^]*not available after 0.1 s/,
    );
    cluster.memory.faults.push(refusal('PATCH', 'serviceaccounts', 409, 'conflict with "kubectl"'));
    const held = await injector('install');
    assert.match(held.errors, /ServiceAccount .*: conflict with "kubectl"; use --take-ownership to take over/);
    assert.deepEqual([code, held.code], [1, 1]);
  });

  it('refuses a helm release with advice, and takes over the release with --take-ownership', async () => {
    const text = gzipSync(JSON.stringify({ chart: { metadata: { name: 'injector-operator' } } })).toString('base64');
    const metadata = { name: 'sh.helm.release.v1.mine.v1', namespace: home, labels: { name: 'mine' } };
    const data = { release: Buffer.from(text).toString('base64') };
    cluster.memory.put('secrets', { apiVersion: 'v1', kind: 'Secret', type: 'helm.sh/release.v1', metadata, data });
    const { errors } = await injector('install');
    assert.match(errors, /helm release mine in [^]*helm upgrade mine [^]*--take-ownership -f -\n[^]*back to helm/);
    const elsewhere = await injector('install -n other --take-ownership');
    assert.match(
      elsewhere.errors,
      /class default already has an operator: helm release mine in namespace sidecar-injector-system/,
    );
    assert.deepEqual([elsewhere.code, cluster.changes], [1, []]);
    assert.equal((await injector('install --take-ownership')).code, 0);
    assert.deepEqual([names('secrets'), (await injector('install')).code], [[], 0]);
  });

  it('prints the objects for values from files and flags, and refuses invalid values', async () => {
    const print = (flags: string, file: string) => runCommand(['install', '-o', 'yaml', ...flags.split(' ')], file);
    const { out } = await print('-f - --set image.tag=v2', 'mode: all\nimage: {tag: v1}');
    assert.match(out, /^apiVersion: v1\nkind: Namespace[^]*image: sidecar-injector:v2\n/);
    const none = await Promise.all(['-f -', '--set a', '--set mode=x'].map((flags) => print(flags, '[]')));
    assert.match(
      none.map(({ errors }) => errors).join(),
      /--values -: .*must be a map.*--set a: "a" is not KEY.*mode: the chart/s,
    );
    assert.deepEqual(
      none.map(({ code }) => code),
      [2, 2, 2],
    );
  });

  it('uninstalls after confirmation, keeps custom resources without their finalizer, and removes everything with --purge', async () => {
    await injector('install --timeout 0');
    const hash = cluster.addRevision('used');
    const held = cluster.memory.get('injectorconfigs', 'used')!;
    held.metadata.finalizers = ['sidecar-injector.io/cleanup', 'other/one'];
    cluster.memory.put('injectorconfigs', held);
    cluster.addNamespace('shop', { 'istio.io/rev': 'used' });
    cluster.addPod('shop', 'web', `used.${hash}`);
    const before = cluster.changes.length;
    const no = await injector('uninstall', 'n');
    assert.match(no.errors, /shop Deployment\/web loses injection by used: 1 pod[^]*nothing was changed/);
    assert.deepEqual([no.code, cluster.changes.length], [1, before]);
    const { out } = await injector('uninstall', 'y');
    assert.match(
      out,
      /^Mutating\S+ injector-operator-\S+: deleted\n[^]*: finalizer removed[^]*; 2 Custom\S+ and 1 custom resource are kept\n$/,
    );
    const kinds = ['deployments', 'clusterroles', 'mutatingwebhookconfigurations', 'secrets', 'namespaces'];
    assert.deepEqual(kinds.flatMap(names), ['shop']);
    assert.deepEqual(cluster.memory.get('injectorconfigs', 'used')?.metadata.finalizers, ['other/one']);
    assert.match((await injector('uninstall -y')).out, /^nothing to uninstall; 2 Custom/);
    const purge = await injector('uninstall --purge', 'y');
    assert.equal(purge.code, 0);
    assert.doesNotMatch(purge.errors, /loses injection/);
    assert.deepEqual(names('customresourcedefinitions'), []);
  });

  it('uninstalls one of two operators only if the user names the operator', async () => {
    await injector('install --timeout 0');
    await injector('install -n blue --set operator.class=blue --timeout 0');
    cluster.addRevision('used');
    const { errors, code } = await injector('uninstall -y');
    assert.match(errors, /name a release with .*: injector-operator in namespace blue, injector-operator in/);
    assert.deepEqual([code, (await injector('uninstall -y -n blue')).code], [2, 0]);
    assert.deepEqual(names('namespaces'), [home]);
    assert.ok(names('mutatingwebhookconfigurations').includes('sidecar-injector-used'));
  });
});
