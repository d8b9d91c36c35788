import { operatorLeases } from '../testdata/operator-leases.ts';
import { describeConfiguration, type FixedMode } from '../../operator/configurations/native-mode.ts';
import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { revision, rules } from '../../selection/testdata/istio-webhook.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { sees, type Seen } from '../testdata/recording-terminal.ts';

/** Splits the lines of a table into cells, without the indented notes. */
const cells = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith(' '))
    .map((line) => line.split(/ {2,}/));

describe('injector status and revisions', () => {
  let cluster: RevisionCluster;
  let old: string;
  let next: string;
  before(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    old = `1-24.${cluster.addRevision('1-24')}`;
    next = `1-25.${cluster.addRevision('1-25')}`;
    cluster.addTag('prod', '1-25');
    cluster.addNamespace('shop', { 'istio.io/rev': 'prod' });
    cluster.addNamespace('early', { 'istio.io/rev': '1-24' });
    cluster.addNamespace('plain');
    cluster.addPod('shop', 'web', next);
    cluster.addPod('shop', 'web', old);
    cluster.addPod('shop', 'cart', next);
    cluster.addPod('early', 'db', '1-24.00000000');
    cluster.addPod('early', 'db', undefined);
    cluster.addPod('early', 'db', undefined, { labels: { 'sidecar.istio.io/inject': 'false' } });
    cluster.addPod('early', 'db', undefined, { creationTimestamp: '2025-01-01T00:00:00Z' });
    cluster.addPod('plain', 'old', old);
    cluster.addPod('plain', 'none');
    cluster.addPod('plain', 'gone', '1-23.0a0a0a0a');
  });
  after(() => cluster.stop());
  afterEach(() => {
    cluster.memory.faults.length = 0;
  });
  const injector = (...argv: string[]): Promise<Seen> => cluster.injector(argv);

  it('counts by InjectorConfig, tag, namespace and workload, with reasons, and exits with 3', async () => {
    const { out, errors, code } = await injector('status');
    assert.deepEqual([errors, code], ['', 3]);
    const [health, configs = '', tags = '', namespaces = '', workloads = '', total] = out.split('\n\n');
    assert.match(health ?? '', /^1 replica live; web-1 is the leader; status as of \d+s ago$/);
    assert.deepEqual(cells(configs), [
      ['INJECTORCONFIG', 'REVISION', 'CURRENT', 'STALE', 'MISSING'],
      ['1-23', '(deleted)', '0', '1', '0'],
      ['1-24', '1-24', '0', '3', '2'],
      ['1-25', '1-25', '2', '0', '0'],
    ]);
    assert.deepEqual(cells(tags)[1], ['prod', '1-25', '2', '1', '0']);
    assert.deepEqual(cells(namespaces).slice(1), [
      ['early', '0', '1', '2'],
      ['plain', '0', '2', '0'],
      ['shop', '2', '1', '0'],
    ]);
    assert.deepEqual(cells(workloads), [
      ['NAMESPACE', 'WORKLOAD', 'NEW PODS GET', 'TAG', 'CURRENT', 'STALE', 'MISSING'],
      ['early', 'Deployment/db', '1-24', '-', '0', '1', '2'],
      ['plain', 'Deployment/gone', '-', '-', '0', '1', '0'],
      ['plain', 'Deployment/old', '-', '-', '0', '1', '0'],
      ['shop', 'Deployment/cart', '1-25', 'prod', '1', '0', '0'],
      ['shop', 'Deployment/web', '1-25', 'prod', '1', '1', '0'],
    ]);
    assert.match(workloads, /db .*\n.* an earlier configuration [^]*pod is older than the webhook\n/);
    assert.match(workloads, /web .*\n {2}injected by InjectorConfig 1-24; it would get InjectorConfig 1-25/);
    assert.equal(total, '2 current, 4 stale, 2 missing\n');
  });

  it('reports a missing leader instead of an old status, and exits with 1', async () => {
    const leases = ['injector-leader-default', 'injector-replica-web-1'];
    for (const name of leases) cluster.memory.remove('leases', name, 'injection');
    const line = 'no operator is running, so the API server refuses pods that webhooks select; run `injector install`';
    for (const command of [['status'], ['revisions'], ['tag', 'list']]) {
      const { out, code } = await injector(...command);
      assert.deepEqual([out.split('\n')[0], code], [line, 1], command.join(' '));
    }
    assert.match((await injector('revisions')).out, /1-25 +1-25 +unknown /);
    const { out: table } = await injector('status');
    assert.match(table, /shop +Deployment\/web +none: no live replica +prod +1 +1 +0\n/);
    assert.match(table, /plain +Deployment\/old +- +- +0 +1 +0\n/);
    const [report] = JSON.parse((await injector('tag', 'list', '-o', 'json')).out) as Record<string, unknown>[];
    assert.deepEqual([report?.ready, report?.reason, report?.unknownSince], [false, 'Unknown', null]);
    for (const lease of operatorLeases()) cluster.memory.put('leases', lease);
  });

  it('shows only stale and missing pods with --stale', async () => {
    const { out, code } = await injector('status', '--stale', '-o', 'json');
    const report = JSON.parse(out) as Record<string, { name?: string; workload?: string }[]>;
    assert.equal(code, 3);
    assert.equal(report.injectorConfigs?.map(({ name }) => name).join(), '1-23,1-24');
    assert.ok(!report.workloads?.some(({ workload }) => workload === 'Deployment/cart'));
    assert.deepEqual(parse((await injector('status', '--stale', '-o', 'yaml')).out), report);
  });

  it('lists workloads that ask for injection and whose pods are refused, by kind of their controller', async () => {
    const set = { replicas: 2 };
    const makers: [kind: string, plural: string, status: object, spec: object, namespace: string][] = [
      ['StatefulSet', 'statefulsets', { replicas: 1 }, set, 'shop'],
      ['DaemonSet', 'daemonsets', { currentNumberScheduled: 1, desiredNumberScheduled: 2 }, {}, 'shop'],
      ['DaemonSet', 'daemonsets', { currentNumberScheduled: 2, desiredNumberScheduled: 2 }, {}, 'early'],
      ['Job', 'jobs', {}, {}, 'shop'],
      ['Job', 'jobs', { succeeded: 1 }, {}, 'early'],
      ['StatefulSet', 'statefulsets', { replicas: 0 }, set, 'plain'],
    ];
    for (const [kind, plural, status, spec, namespace] of makers) {
      const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
      const name = kind.toLowerCase();
      const object = { apiVersion, kind, metadata: { name, namespace } };
      cluster.memory.put(plural, { ...object, spec, status });
      for (const [index, lastTimestamp] of ['2026-01-01T00:00:02Z', '2026-01-01T00:00:01Z'].entries()) {
        const involvedObject = { apiVersion, kind, namespace, name };
        const metadata = { name: `${name}.${index}`, namespace };
        const event = {
          apiVersion: 'v1',
          kind: 'Event',
          metadata,
          reason: 'FailedCreate',
          involvedObject,
          lastTimestamp,
        };
        cluster.memory.put('events', { ...event, message: `exceeded quota ${index}` });
      }
    }
    const { out } = await injector('status');
    assert.match(
      out,
      /NAMESPACE +REFUSED +PODS OF\nshop +DaemonSet\/daemonset +DaemonSet\/daemonset\n {2}exceeded quota 0\n/,
    );
    const { refused } = JSON.parse((await injector('status', '-o', 'json')).out) as { refused: { workload: string }[] };
    assert.deepEqual(
      refused.map(({ workload }) => workload),
      ['DaemonSet/daemonset', 'Job/job', 'StatefulSet/statefulset'],
    );
    cluster.memory.fail((method, path) => method === 'GET' && path.endsWith('/events'), 403, 'Forbidden', 'no events');
    assert.match((await injector('status')).errors, /not all workloads whose pods are refused are listed: no events/);
  });

  it('shows one namespace', async () => {
    const { out, code } = await injector('status', '-n', 'shop', '-o', 'json');
    const { workloads, total } = JSON.parse(out) as { workloads: { namespace: string }[]; total: object };
    assert.deepEqual(workloads.map(({ namespace }) => namespace).join(), 'shop,shop');
    assert.deepEqual([total, code], [{ current: 2, stale: 1, missing: 0 }, 3]);
    const unknown = await injector('status', '-n', 'shp');
    const advice = 'existing names: early, plain, shop; did you mean shop?';
    assert.deepEqual([unknown.errors, unknown.code], [`error: --namespace: there is no namespace shp; ${advice}`, 2]);
  });

  it('says how many pods are held, and since when, whether or not an operator runs', async () => {
    const times = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'];
    for (const [index, creationTimestamp] of times.entries()) {
      cluster.memory.put('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `held-${index}`, namespace: 'plain', creationTimestamp },
        spec: { containers: [], schedulingGates: [{ name: 'hold.sidecar-injector.io/sidecar-injector-1-25' }] },
      });
    }
    const { errors } = await injector('status');
    assert.match(
      errors,
      /^3 pods with scheduling gate hold\.sidecar-injector\.io\/sidecar-injector-1-25, the first since 2026-01-01T00:00:00Z: held until/m,
    );
    for (const index of times.keys()) cluster.memory.remove('pods', `held-${index}`, 'plain');
  });

  it('exits with 0 when all pods are current', async () => {
    const whole = new RevisionCluster();
    await whole.start();
    const hash = whole.addRevision('1-24');
    whole.addNamespace('shop', { 'istio.io/rev': '1-24' });
    whole.addPod('shop', 'web', `1-24.${hash}`);
    sees(await whole.injector(['status']), 0, { out: /\n1 current, 0 stale, 0 missing\n$/ });
    await whole.stop();
  });

  it('counts pods of a revision or tag without a webhook as stale', async () => {
    for (const [id, namespace, owner] of [
      ['1-24', 'early', 'InjectorConfig 1-24'],
      ['tag-prod', 'shop', 'RevisionTag prod'],
    ] as const) {
      const configuration = cluster.memory.get('mutatingwebhookconfigurations', `sidecar-injector-${id}`);
      cluster.memory.remove('mutatingwebhookconfigurations', `sidecar-injector-${id}`);
      const { out } = await injector('status', '-n', namespace);
      const why = `it would get nothing now, since ${owner} has no webhook`;
      assert.ok(out.replaceAll(/\n +/g, ' ').includes(why), out);
      assert.ok(configuration);
      cluster.memory.put('mutatingwebhookconfigurations', configuration);
    }
  });

  it('does not count missing pods if the user may not read configurations', async () => {
    cluster.memory.faults.push(refusal('GET', 'configmaps', 403, 'you may not'));
    const { out, errors } = await injector('status');
    assert.match(out, /\n2 current, 4 stale, 0 missing\n$/);
    assert.match(errors, /cannot determine which pods lack the sidecar of sidecar-injector-1-24: .* read: you may not/);
  });

  it('lists revisions and their users', async () => {
    const { out, code } = await injector('revisions');
    assert.equal(code, 0);
    assert.match(out, / {2}CERT\n/);
    const expected = '5 (3 stale, 2 missing)';
    const rows = cells(out)
      .slice(3)
      .map((row) => row.slice(0, -1));
    assert.deepEqual(rows, [
      ['1-24', '1-24', 'True', old.slice(5), '-', 'early', expected],
      ['1-25', '1-25', 'True', next.slice(5), 'prod', 'shop', '2'],
    ]);
  });

  it('shows whether a revision has native sidecars', async () => {
    const set = (...modes: FixedMode[]): void =>
      cluster.memory.edit('injectorconfigs', '1-25', undefined, (object) => {
        const status = object.status as { config: { hash: string }; conditions: { type: string }[] };
        const lastTransitionTime = '2026-06-01T00:00:00Z';
        const condition = { type: 'TemplatesValid', status: 'True', reason: 'Compiled', lastTransitionTime };
        status.conditions = [
          ...status.conditions.filter(({ type }) => type !== 'TemplatesValid'),
          ...modes.map((mode) => ({ ...condition, message: describeConfiguration(status.config.hash, mode) })),
        ];
      });
    set('Enabled');
    const { out } = await injector('revisions');
    assert.match(out, / NATIVE .*\n(?:.*\n)*1-24 .* {2}- {7}(?:.*\n)*1-25 .* yes {5}/);
    set();
  });

  it('shows that tag default replaces InjectorConfig default', async () => {
    const whole = new RevisionCluster();
    await whole.start();
    whole.addRevision('default');
    whole.addRevision('1-25');
    whole.addNamespace('shop', { 'istio-injection': 'enabled' });
    const namespacesOf = async (): Promise<string[][]> => {
      const { out } = await whole.injector(['revisions', '-o', 'json']);
      return (JSON.parse(out) as { namespaces: string[] }[]).map(({ namespaces }) => namespaces);
    };
    assert.deepEqual(await namespacesOf(), [[], ['shop']]);
    whole.addTag('default', '1-25');
    assert.deepEqual(await namespacesOf(), [['shop'], []]);
    await whole.stop();
  });

  it("also shows Istio's injectors", async () => {
    cluster.memory.put('mutatingwebhookconfigurations', istio('istio-sidecar-injector-canary', {}, 'canary'));
    cluster.memory.put(
      'mutatingwebhookconfigurations',
      istio('istio-revision-tag-try', { 'istio.io/tag': 'try' }, 'try'),
    );
    cluster.addNamespace('istios', { 'istio.io/rev': 'try' });
    const { out } = await injector('revisions', '-o', 'json');
    assert.deepEqual((JSON.parse(out) as unknown[])[2], {
      revision: 'canary',
      name: 'istio-sidecar-injector-canary',
      foreign: true,
      tags: ['try'],
      namespaces: ['istios'],
    });
    const table = (await injector('revisions')).out;
    assert.match(
      table,
      /\ncanary +\(not ours\) +- +- +try +istios +- +-\n {2}MutatingWebhookConfiguration istio-sidecar-injector-canary of another/,
    );
  });

  function istio(name: string, labels: Record<string, string>, rev: string) {
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name, labels: { app: 'sidecar-injector', 'istio.io/rev': 'canary', ...labels } },
      webhooks: [{ name: 'rev.namespace.sidecar-injector.istio.io', rules, namespaceSelector: revision(rev) }],
    };
  }
});
