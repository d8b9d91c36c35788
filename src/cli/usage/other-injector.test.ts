import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { admissionPod, withServerDefaults } from '../../inject/kubernetes/admission-pod.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjector } from '../../inject/injector.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { istio } from '../../selection/testdata/istio-webhook.ts';
import type { CheckReport } from '../check/check-report.ts';
import type { StatusReport } from '../commands/status.ts';
import type { DiffReport } from '../diff/diff-report.ts';
import type { Seen } from '../testdata/recording-terminal.ts';
import { RevisionCluster } from '../testdata/revision-cluster.ts';

const status = 'sidecar.istio.io/status';
const notInjected = `!has(object.metadata.annotations) || !('${status}' in object.metadata.annotations)`;
const standby = { takeover: true, matchConditions: [{ name: 'standby', expression: notInjected }] };

describe('commands beside another injector', () => {
  let cluster: RevisionCluster;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    cluster.addNamespace('shop', { 'istio-injection': 'enabled' });
    cluster.addNamespace('plain');
    cluster.memory.put('mutatingwebhookconfigurations', istio());
  });
  afterEach(() => cluster.stop());

  /** Adds pods of a Deployment as another injector with the same configuration makes them. */
  function addPods(app: string, count = 1, change = (text: string): string => text): void {
    const config = parseInjectorConfig(cluster.memory.get('injectorconfigs', 'default'));
    const injector = loadInjector(configurationFiles(config, {}));
    const metadata = { generateName: `${app}-7d9-`, labels: { app, 'pod-template-hash': '7d9' } };
    const made = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image: 'app' }] } };
    const result = inject(injector, { pod: admissionPod(made, 'shop'), namespace: 'shop' });
    assert.equal(result.outcome, 'injected');
    const text = change(JSON.stringify(withServerDefaults(result.pod)));
    for (let index = 0; index < count; index += 1) {
      const pod = JSON.parse(text) as KubernetesObject;
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-7d9`, uid: app, controller: true };
      const named = { name: `${app}-7d9-${index}`, namespace: 'shop', ownerReferences: [owner] };
      cluster.memory.put('pods', { ...pod, metadata: { ...pod.metadata, ...named }, status: { phase: 'Running' } });
    }
  }
  const read = async (command: string, argv: readonly string[]) => {
    const { out, errors, code } = await cluster.injector([command, ...argv, '-o', 'json']);
    assert.ok(out !== '', errors);
    return { errors, code, report: JSON.parse(out) as unknown };
  };
  type Read<Report> = Promise<Pick<Seen, 'errors' | 'code'> & { readonly report: Report }>;
  const statusReport = (...argv: string[]) => read('status', argv) as Read<StatusReport>;
  const checks = (...argv: string[]) => read('check', argv) as Read<CheckReport[]>;
  const diff = (...argv: string[]) => read('diff', argv) as Read<DiffReport>;
  const otherImage = (text: string): string => text.replace('"image":"default"', '"image":"older"');

  it('status compares the pods of the other injector, and counts none of them as ours', async () => {
    cluster.addRevision('default', { webhook: standby });
    addPods('web', 2);
    const { report, code } = await statusReport();
    assert.deepEqual(report.total, { current: 0, stale: 0, missing: 0 });
    const web = { namespace: 'shop', workload: 'Deployment/web', injectorConfig: 'default', revision: 'default' };
    assert.deepEqual(report.others, [{ ...web, identical: 2, different: 0, notCompared: 0, reasons: [] }]);
    assert.equal(code, 0);
    addPods('cart', 1, otherImage);
    const { out, code: worse } = await cluster.injector(['status', '--stale']);
    assert.match(
      out,
      /shop +Deployment\/cart +default +default +0 +1 +0\n {2}a new pod differs in spec\.containers\[proxy\]\.image\n/,
    );
    assert.doesNotMatch(out, /Deployment\/web/);
    assert.match(out, /\n0 current, 0 stale, 0 missing, 3 injected by another injector\n$/);
    assert.equal(worse, 3);
  });

  it('status does not compare while nothing of ours is published', async () => {
    cluster.addRevision('default');
    addPods('web');
    cluster.memory.remove('mutatingwebhookconfigurations', 'sidecar-injector-default');
    const { report } = await statusReport();
    const [found] = report.others;
    assert.deepEqual([found?.notCompared, found?.reasons], [1, ['InjectorConfig default has no published webhook']]);
  });

  it('check says that the other injector injected a pod, and whether a new pod is identical', async () => {
    cluster.addRevision('default', { webhook: standby });
    addPods('web');
    addPods('cart', 1, otherImage);
    const { report } = await checks('web-7d9-0', 'cart-7d9-0', '-n', 'shop');
    assert.deepEqual(
      report.map(({ reason, existing }) => [reason, existing?.state, existing?.other?.result]),
      [
        ['OtherInjector', 'Other', 'Identical'],
        ['OtherInjector', 'Other', 'Different'],
      ],
    );
    const { out: folded } = await cluster.injector(['check', 'web-7d9-0', '-n', 'shop']);
    const out = folded.replaceAll(/\n +/g, ' ');
    assert.match(
      out,
      /why: webhook configuration istio-sidecar-injector \(webhook \S+\) of another injector is called for the pod first: matchCondition standby is false/,
    );
    assert.match(
      out,
      /now: it was injected by another injector, revision default; a new pod of ours would be identical /,
    );
  });

  it('check reports a double injection only if both webhooks inject', async () => {
    cluster.addRevision('default', { webhook: { takeover: true } });
    const { report } = await checks('namespace/shop');
    assert.equal(report[0]?.reason, 'ForeignWebhook');
    cluster.addRevision('default', { webhook: standby });
    const { report: after } = await checks('namespace/shop');
    assert.equal(after[0]?.reason, 'OtherInjector');
  });

  it('diff names the workloads that the other injector injects, and does not claim to compare them', async () => {
    cluster.addRevision('default', { webhook: standby });
    addPods('web', 2);
    const { report, errors, code } = await diff('--to', 'default');
    assert.deepEqual([report.summary.workloads, report.summary.unknown, code], [0, 1, 5]);
    assert.deepEqual(report.notes, [
      'another injector made the pods of 1 workload, for example of shop/Deployment/web; `injector status` compares them with new pods',
      '1 workload not compared: webhook configuration istio-sidecar-injector of another injector injects them',
    ]);
    assert.equal(errors, '');
  });

  it('diff names workloads that only the other injector selects, unless --from excludes them', async () => {
    cluster.addRevision('default');
    addPods('web', 1);
    cluster.memory.remove('mutatingwebhookconfigurations', 'sidecar-injector-default');
    cluster.addRevision('1-24');
    const { report } = await diff('--to', '1-24');
    assert.equal(report.summary.unknown, 1);
    const { report: from } = await diff('--to', '1-24', '--from', '1-24');
    assert.match(from.notes.join('\n'), /nothing was compared: of 1 workload in the cluster, none is injected/);
  });

  it('diff compares new pods if ours injects after the other injector', async () => {
    cluster.addRevision('default', { webhook: { takeover: true } });
    addPods('web', 1);
    const { report } = await diff('--to', 'default');
    assert.deepEqual([report.summary.workloads, report.summary.estimated], [1, 1]);
    assert.match(report.workloads[0]?.notes.join() ?? '', /another injector injected the pod/);
  });
});
