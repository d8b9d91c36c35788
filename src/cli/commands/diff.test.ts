import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { parse } from 'yaml';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { DiffReport } from '../diff/diff-report.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { runCommand, sees, type Seen } from '../testdata/recording-terminal.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

/** A template that fails for pods with label `odd`. */
function template(image: string): string {
  return [
    '{{ if index .ObjectMeta.Labels "odd" }}{{ $_ := .Values.odd.missing.field }}{{ end }}',
    'spec:',
    '  containers:',
    '  - name: proxy',
    `    image: ${image}`,
    '    resources: {requests: {cpu: {{ .Values.cpu }}, memory: 64Mi}}',
    '',
  ].join('\n');
}

function injection(image: string, cpu: string, odd: unknown = { missing: {} }): Record<string, unknown> {
  return { injection: { templates: { sidecar: template(image) }, values: { cpu, odd } } };
}

describe('injector diff', () => {
  let cluster: RevisionCluster;
  const { path, write } = temporaryFolder();
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    cluster.addRevision('1-24', injection('proxy:1', '100m'));
    cluster.addRevision('1-25', injection('proxy:2', '200m'));
    cluster.addTag('prod', '1-24');
    cluster.addNamespace('shop', { 'istio.io/rev': 'prod' });
    cluster.addNamespace('plain');
    addPods('shop', 'web', 3);
    addPods('plain', 'other', 1);
  });
  afterEach(() => cluster.stop());

  const addPods = (...pods: [namespace: string, app: string, count: number, labels?: Record<string, string>]): void =>
    cluster.addInjectedPods('1-24', ...pods);
  const diff = (...argv: string[]): Promise<Seen> => cluster.injector(['diff', ...argv]);
  async function report(...argv: string[]): Promise<DiffReport> {
    return JSON.parse((await diff(...argv, '-o', 'json')).out) as DiffReport;
  }
  const deployment = (name: string, namespace: string, labels = {}): KubernetesObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: 2,
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
    },
  });

  it('predicts another revision, and exits with 3', async () => {
    cluster.memory.put('deployments', deployment('idle', 'shop'));
    const { code, out } = await diff('--to', '1-25');
    assert.equal(code, 3);
    assert.match(out, /^from the active configurations to revision 1-25: 2 workloads with 5 pods\ncompared, 2 changed/);
    assert.match(
      out,
      /\nimage: 2 workloads, 5 pods\n {2}for example deployment\/idle .*:\n {4}spec.containers\[proxy\].image\n {4}- proxy:1\n {4}\+ proxy:2\n/,
    );
    assert.match(out, /\ncpu requests +0\.3 +0\.6 +\+0\.3\n/);
    assert.match(out, /\ncpu requests \(estimated\) +0\.2 +0\.4 +\+0\.2\n/);
    assert.ok(out.split('\n').every((line) => line.length <= 80));
    const { workloads, summary } = await report('--to', '1-25', '--pods');
    assert.deepEqual(
      workloads.map(({ name, pods, isEstimated, changes }) => [name, pods, isEstimated, changes.length]),
      [
        ['idle', 2, true, 2],
        ['web', 3, false, 2],
      ],
    );
    assert.deepEqual([summary.estimated, summary.changedByOthers], [1, 0]);
    assert.match(JSON.stringify(workloads[1]?.predicted?.after), /"image":"proxy:2"/);
  });

  it('lets the API server validate changed pods, and counts invalid ones as refused', async () => {
    const sidecar = `${template('proxy:3')}    workingDir: /unknown\n`;
    const spec = { injection: { templates: { sidecar }, values: { cpu: '100m', odd: { missing: {} } } } };
    const file = write('mount.yaml', JSON.stringify({ ...kindOf, metadata: { name: '1-24' }, spec }));
    const { code, out } = await diff('-f', file);
    assert.equal(code, 4);
    assert.match(
      out.replaceAll(/\s+/g, ' '),
      /REFUSED: .* deployment\/web in namespace shop: .*\.workingDir: Invalid value: "\/unknown"/,
    );
    assert.deepEqual(
      cluster.memory.dryRunPods.map(({ metadata }) => metadata.namespace),
      ['injection', 'injection'],
    );
    assert.deepEqual(cluster.changes, []);
    cluster.memory.faults.push(
      refusal('POST', '/pods', 403, 'pods is forbidden: User "me" cannot create resource "pods"'),
    );
    sees(await diff('-f', file), 3, { errors: /not all pods were validated: .* cannot create resource/ });
  });

  it('compares nothing but the pods of --from, --tag, -n and --workload', async () => {
    cluster.addTag('other', '1-24');
    assert.equal((await report('--to', '1-25', '--tag', 'prod')).summary.workloads, 1);
    assert.equal((await report('--to', '1-25', '--tag', 'other')).summary.workloads, 0);
    sees(await diff('--to', '1-25', '--tag', 'prd'), 5, {
      errors: /there is no tag prd; existing names: other, prod; did/,
    });
    assert.equal((await report('--to', '1-25', '--from', '1-24')).summary.workloads, 1);
    const { out } = await diff('--to', '1-25', '--workload', 'shop/deployment/web');
    assert.match(out, /^deployment\/web in namespace shop, 3 pods:\n {2}before: Injected \(1-24\./);
  });

  const nothing: [argv: string[], message: RegExp][] = [
    [['-n', 'shp'], /^error: --namespace: there is no namespace shp; .*; did you mean shop\?$/],
    [['--workload', 'shp/deployment/web'], /--workload: there is no namespace shp; .*did you mean shop\?/],
    [['--workload', 'shop/deployment/wbe'], /no workload shop\/deployment\/wbe; existing names: shop\/Deployment\/web/],
    [['--from', '1-23'], /--from 1-23: no InjectorConfig has this revision/],
    [['--to', '1-2'], /no InjectorConfig has this revision; existing names: 1-24, 1-25/],
    [['--to', 'prod'], /it is a tag that points to revision 1-24/],
    [['--from', '1-25'], /^nothing was compared: of 2 workloads in the cluster, none is injected by revision 1-25$/],
    [['-n', 'plain'], /of 1 workload in namespace plain, none is injected by the active configurations$/],
    [['--workload', 'plain/deployment/other'], /^nothing was compared: of 1 workload in namespace plain, none/],
    [['--to', 'logs'], /none is injected by a configuration that revision logs replaces$/],
  ];
  for (const [argv, errors] of nothing) {
    it(`exits with 5 if it finds nothing to compare for ${argv.join(' ')}`, async () => {
      const keys = { istio: false, inject: 'logs/inject', status: 'logs/status', templates: 'logs/templates' };
      cluster.addRevision('logs', { ...injection('logs:1', '1'), webhook: { keys } });
      sees(await diff('--to', '1-25', ...argv), 5, { errors });
    });
  }

  it('finds no difference for the same values, and one for others', async () => {
    const same = write('same.yaml', 'cpu: 100m\nodd: {missing: {}}\n');
    sees(await diff('--to-values', same), 0, {
      out: /1\s+workload with 3 pods\s+compared, no difference: the configurations are identical\n$/,
    });
    const more = await report('--to-values', write('more.yaml', 'cpu: "1"\nodd: {missing: {}}\n'));
    assert.deepEqual(
      more.groups.map(({ kind, pods }) => [kind, pods]),
      [['resources', 3]],
    );
    assert.deepEqual([more.resources.before.requests.cpu, more.resources.after.requests.cpu], [0.3, 3]);
  });

  it('names the workloads that would be refused first, and exits with 4', async () => {
    addPods('shop', 'aaa', 1);
    addPods('shop', 'zzz', 2, { odd: 'yes' });
    const spec = injection('proxy:1', '100m', null);
    const file = write('config.yaml', JSON.stringify({ ...kindOf, metadata: { name: '1-24' }, spec }));
    const { code, out } = await diff('-f', file);
    assert.equal(code, 4);
    assert.match(
      out,
      /\n\nREFUSED: new pods of 1 workload would be refused\n {2}deployment\/zzz in namespace shop: template sidecar, line 1: failed /,
    );
    const { workloads } = await report('-f', file);
    assert.deepEqual(
      workloads.map(({ name, after }) => `${name} ${after.outcome}`),
      ['zzz Refused', 'aaa Injected', 'web Injected'],
    );
  });
  const kindOf = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig' };

  it('keeps what others changed, and names it', async () => {
    const [name = ''] = cluster.memory.names('pods').filter((each) => each.startsWith('web'));
    cluster.memory.edit('pods', name, 'shop', (pod) => {
      pod.metadata.creationTimestamp = '2099-01-01T00:00:00Z';
      const { containers } = pod.spec as { containers: { name: string; env?: unknown }[] };
      for (const container of containers) container.env = [{ name: 'TEAM', value: 'x' }];
    });
    const { workloads } = await report('--to', '1-25', '--pods');
    assert.deepEqual(workloads[0]?.changedByOthers, ['spec.containers[proxy].env']);
    const { containers } = (workloads[0].predicted?.after as { spec: { containers: { name: string; env: unknown }[] } })
      .spec;
    assert.ok(containers.every(({ env }) => JSON.stringify(env) === '[{"name":"TEAM","value":"x"}]'));
  });

  it('marks a pod as estimated if its configuration no longer exists', async () => {
    const name = cluster.memory.names('configmaps').find((each) => each.includes('1-24')) ?? '';
    cluster.addRevision('1-24', injection('proxy:3', '100m'));
    cluster.addTag('prod', '1-24');
    cluster.memory.remove('configmaps', name, 'injection');
    const { workloads } = await report('--to', '1-25');
    assert.equal(workloads[0]?.isEstimated, true);
    assert.match(workloads[0].notes.join(), /the configuration that injected the pod is not known \(1-24\./);
  });

  it('compares although no operator runs, and says which workloads it cannot compare', async () => {
    cluster.memory.remove('leases', 'injector-leader-default', 'injection');
    for (const name of cluster.memory.names('leases')) cluster.memory.remove('leases', name, 'injection');
    assert.equal((await report('--to', '1-25')).summary.changed, 1);
    const name = cluster.memory.names('configmaps').find((each) => each.includes('1-24')) ?? '';
    cluster.memory.remove('configmaps', name, 'injection');
    sees(await diff('--to', '1-25'), 5, { out: /no difference, 1 not compared/ });
    const { notes, summary } = await report('--to', '1-25');
    assert.equal(summary.workloads, 0);
    assert.match(notes.join(), /^1 workload not compared: InjectorConfig 1-24: ConfigMap .* does not exist$/);
  });

  it('goes on without a kind that may not be listed', async () => {
    cluster.memory.faults.push(refusal('GET', '/limitranges', 403));
    cluster.memory.faults.push(refusal('GET', '/cronjobs', 403));
    const { notes, workloads } = await report('--to', '1-25');
    assert.equal(workloads.length, 1);
    assert.match(notes.join(), /CronJobs cannot be listed.*LimitRanges cannot be listed/);
  });

  const wrong: [argv: string[], message: RegExp][] = [
    [[], /name what comes after: --to REVISION, -f FILE or --to-values FILE/],
    [['--to', '1-25', '--to-values', 'v'], /name what comes after/],
    [['--to', '1-25', '--workload', 'web'], /use NAMESPACE\/KIND\/NAME/],
    [['--to', '1-25', '--since', 'main'], /also name workloads with --manifests/],
    [['--to', '1-25', '--manifests', 'x'], /also name the InjectorConfig after the change with -f/],
    [['-f', '/none'], /-f \/none: no such file/],
  ];
  for (const [argv, message] of wrong) {
    it(`refuses ${argv.join(' ') || 'no options'}`, async () => {
      const { code, errors } = await diff(...argv);
      assert.equal(code, 2);
      assert.match(errors, message);
    });
  }

  describe('without a cluster', () => {
    const files = (...argv: string[]): Promise<Seen> => runCommand(['diff', ...argv]);
    const config = (name: string, image: string): string =>
      JSON.stringify({ ...kindOf, metadata: { name }, spec: injection(image, '100m') });

    it('compares files over a folder of manifests', async () => {
      mkdirSync(path('apps'), { recursive: true });
      write('apps/a.yaml', JSON.stringify(deployment('a', 'shop')));
      write('apps/README.md', 'not a manifest');
      const old = write('old.yaml', config('mesh', 'proxy:1'));
      const next = write('next.yaml', config('mesh', 'proxy:2'));
      const { out, code } = await files('--manifests', path('apps'), '-f', next, '--from-file', old, '-o', 'yaml');
      assert.equal(code, 3);
      const { groups, summary } = parse(out) as DiffReport;
      assert.deepEqual(
        groups.map(({ kind }) => kind),
        ['image'],
      );
      assert.deepEqual([summary.workloads, summary.estimated], [1, 1]);
      sees(await files('--manifests', path('apps'), '-f', next, '--from-file', next), 0, { out: /no difference/ });
      const typo = ['--manifests', path('apps'), '-f', next, '--from-file', old];
      sees(await files(...typo, '-n', 'shp'), 5, { errors: /no namespace shp; existing names: shop; did you mean/ });
      sees(await files(...typo, '--workload', 'shop/pod/a'), 5, { errors: /existing names: shop\/Deployment\/a/ });
      sees(await files(...typo, '--to', 'mash'), 5, { errors: /has this revision; existing names: mesh/ });
      sees(await files('--manifests', path('apps'), '-f', next), 2, { errors: /name the InjectorConfig before/ });
      sees(await files('--manifests', old, '-f', next, '--from-file', old), 2, {
        errors: /contain no pods or workloads/,
      });
    });

    it('compares two revisions of the same files, and the files of a git commit', async () => {
      mkdirSync(path('repository/apps'), { recursive: true });
      const git = (...argv: string[]) =>
        execFileSync('git', ['-C', path('repository'), '-c', 'user.name=t', '-c', 'user.email=t@t', ...argv]);
      git('init', '-q');
      write('repository/apps/a.yaml', JSON.stringify(deployment('a', 'shop')));
      write('repository/mesh.yaml', `${config('m1', 'proxy:1')}\n---\n${config('m2', 'proxy:2')}`);
      git('add', '.');
      git('commit', '-qm', 'first');
      const here = process.cwd();
      process.chdir(path('repository'));
      try {
        sees(await files('--manifests', 'apps', '-f', 'mesh.yaml', '--from', 'm1', '--to', 'm2'), 3, {
          out: /\+ proxy:2/,
        });
        sees(await files('--manifests', 'apps', '-f', 'mesh.yaml', '--to', 'm1', '--since', 'HEAD'), 0, {
          out: /no difference/,
        });
        write('repository/mesh.yaml', config('m1', 'proxy:7'));
        sees(await files('--manifests', 'apps', '-f', 'mesh.yaml', '--since', 'HEAD'), 3, {
          out: /- proxy:1\n.*\+ proxy:7/,
        });
        sees(await files('--manifests', 'apps', '-f', 'mesh.yaml', '--since', 'nowhere'), 2, {
          errors: /--since nowhere: git ls-tree: /,
        });
        sees(await files('--manifests', 'apps', '-f', 'mesh.yaml', '--since=--output=x'), 2, {
          errors: /is not a commit/,
        });
      } finally {
        process.chdir(here);
      }
    });
  });
});
