import assert from 'node:assert/strict';
import type { MemoryCluster } from '../testdata/memory-cluster.ts';
import { eachTest, injectorConfig, template } from '../testdata/operator-fixture.ts';
import { ProcessCluster } from '../testdata/operator-process.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

/** A template whose pods mount a volume that does not exist. */
const withoutVolume = `${template('one')}    volumeMounts: [{name: config, mountPath: /etc/config}]\n`;
const notFound = 'spec\\.containers\\[0\\]\\.volumeMounts\\[0\\]\\.name: Not found: "config"';
const refusesAll = new RegExp(
  `^False/ConfigurationInvalid: .*refuses 11 of 11 injected pods, such as a pod of a Deployment: ${notFound}`,
);
/** A template whose pods are invalid if a Job owns them. */
const badInJobs = `${template('one')}{{ if eq .Spec.RestartPolicy "Never" }}    volumeMounts: [{name: config, mountPath: /a}]\n{{ end }}`;

/** Answers all dry runs of pods with an error. */
function failing(cluster: MemoryCluster, code: number, reason: string, message: string): void {
  cluster.fail((method, path) => method === 'POST' && path.endsWith('/pods'), code, reason, message);
}

describe('dryRunPods', () => {
  const operator = eachTest(new RevisionFixture());
  const created = (): number => operator.cluster.dryRunPods.length;

  it('refuses a new configuration whose pods are invalid, with the field and message of the API server', async () => {
    await operator.install('blue', { injection: { templates: { sidecar: withoutVolume } } });
    operator.says('blue', 'TemplatesValid', refusesAll);
    operator.says('blue', 'Ready', /^False/);
    assert.equal(operator.path('blue'), undefined);
    assert.equal(operator.cluster.get('pods', 'trial-0', 'injection'), undefined, 'nothing is stored');
  });

  it('keeps what was published, and publishes the next edit that is valid', async () => {
    const published = await operator.installed();
    await operator.render('blue', withoutVolume);
    operator.says('blue', 'TemplatesValid', refusesAll);
    assert.equal(operator.hash('blue'), published);
    const before = created();
    await operator.reconcile('blue');
    assert.equal(created(), before, 'the result is known');
    await operator.render('blue', template('two'));
    operator.says('blue', 'TemplatesValid', /^True/);
    assert.notEqual(operator.hash('blue'), published);
  });

  it('publishes a configuration of which only some pods are invalid, with a warning', async () => {
    await operator.install('blue', { injection: { templates: { sidecar: badInJobs } } });
    operator.says(
      'blue',
      'TemplatesDoubtful',
      new RegExp(`refuses 1 of 11 injected pods, such as a pod of a Job: ${notFound}`),
    );
    operator.says('blue', 'TemplatesValid', /^True/);
    assert.equal(operator.condition('blue', 'PodsNotValidated'), 'none');
    operator.hash('blue');
  });

  it('sends 11 dry runs for a new configuration, into the namespace of the operator, and none again', async () => {
    await operator.installed();
    await operator.reconcile('blue');
    assert.equal(created(), 11);
    for (const { metadata } of operator.cluster.dryRunPods) {
      assert.equal(metadata.namespace, 'injection');
      assert.equal(metadata.labels?.['sidecar.istio.io/inject'], 'false');
    }
    operator.restart();
    await operator.reconcile('blue');
    assert.equal(created(), 11, 'the next leader knows that the configuration is published');
    await operator.edit('blue', { webhook: { timeoutSeconds: 7 } });
    assert.equal(created(), 11, 'another edit does not change the configuration');
  });

  const rbac =
    'pods is forbidden: User "me" cannot create resource "pods" in API group "" in the namespace "injection"';
  const unjudged: [title: string, code: number, reason: string, message: string, requests: number, says: RegExp][] = [
    [
      'it has no right',
      403,
      'Forbidden',
      rbac,
      1,
      /^True\/DryRunForbidden: .* cannot create .*; to grant this right, set operator\.dryRunPods/,
    ],
    [
      'the API server fails',
      500,
      'InternalError',
      'failed calling webhook',
      1,
      /^True\/DryRunUnanswered: .* failed calling webhook/,
    ],
    [
      'Pod Security refuses every pod',
      403,
      'Forbidden',
      'violates PodSecurity',
      11,
      /^True\/DryRunRefused: .* violates PodSecurity/,
    ],
    ['a policy refuses every pod', 422, 'Invalid', 'ValidatingAdmissionPolicy', 11, /^True\/DryRunRefused/],
  ];
  for (const [title, code, reason, message, requests, says] of unjudged) {
    it(`publishes, and says why no pod was validated, if ${title}`, async () => {
      failing(operator.cluster, code, reason, message);
      await operator.installed();
      operator.says('blue', 'PodsNotValidated', says);
      const { requests: all } = operator.cluster.server;
      assert.equal(all.filter((each) => each.method === 'POST' && each.path.endsWith('/pods')).length, requests);
      operator.cluster.faults.length = 0;
      await operator.render('blue', template('two'));
      operator.says('blue', 'PodsNotValidated', /^False\/Validated/);
    });
  }

  it('blames no template if the pods are invalid without injection, too', async () => {
    // Another webhook adds a container without an image to every pod of the namespace.
    operator.cluster.changesPod = ({ spec }) => {
      (spec as { containers: object[] }).containers.push({ name: 'foreign' });
    };
    await operator.installed();
    operator.says(
      'blue',
      'PodsNotValidated',
      /^True\/DryRunRefused: .* is refused without injection, too: spec\.containers\[1\]\.image/,
    );
  });

  it('is harmless if the leader is killed after any write', async () => {
    for (const [index, resource] of [
      'configmaps',
      'mutatingwebhookconfigurations',
      'injectorconfigs/status',
    ].entries()) {
      const name = `killed-${index}`;
      operator.isFatal = (write) => write.resource === resource && write.name.includes(name);
      operator.cluster.put(
        'injectorconfigs',
        injectorConfig(name, { injection: { templates: { sidecar: badInJobs } } }),
      );
      await operator.reconcile(name);
      operator.isFatal = () => false;
      operator.restart();
      await operator.reconcile(name);
      await operator.reconcile(name);
      operator.says(name, 'TemplatesValid', /^True/);
      operator.hash(name);
    }
  });
});

describe('dryRunPods with pods of the cluster', () => {
  let cluster: ProcessCluster;
  beforeEach(() => {
    cluster = new ProcessCluster();
    return cluster.start();
  });
  afterEach(() => cluster.stop());

  it('warns of workloads whose pods are invalid, with at most 20 dry runs for an edit', async () => {
    await cluster.launch();
    cluster.put('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: { 'istio.io/rev': 'blue' } },
    });
    for (let index = 0; index < 12; index += 1) {
      const env = [{ name: 'PASSWORD', value: 's3cret' }];
      const spec = { serviceAccountName: 'web', containers: [{ name: 'proxy-2', image: 'web:1', env }] };
      const metadata = { name: `web-${index}`, namespace: 'shop', labels: { app: `web-${index}` } };
      cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    }
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await cluster.until(() => cluster.dryRunPods.length === 18);
    assert.equal(cluster.dryRunPods.length, 18);
    assert.ok(!JSON.stringify(cluster.dryRunPods).includes('s3cret'));
    assert.equal(cluster.ready('blue', 'injectorconfigs', 'TemplatesDoubtful'), 'undefined/undefined');
    const invalid = `{{ range .Spec.Containers }}{{ if eq .Name "proxy-2" }}${withoutVolume}{{ end }}{{ end }}`;
    cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.spec = injectorConfig('blue', {
        injection: { templates: { sidecar: `metadata: {labels: {a: b}}\n${invalid}` } },
      }).spec;
    });
    await cluster.until(() => cluster.ready('blue', 'injectorconfigs', 'TemplatesDoubtful') === 'True/Doubtful');
    assert.ok(cluster.dryRunPods.length - 18 <= 20, String(cluster.dryRunPods.length));
  });
});
