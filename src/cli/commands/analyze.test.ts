import assert from 'node:assert/strict';
import type { OwnerReference } from '../../api/kubernetes/kubernetes.ts';
import { istio, revision } from '../../selection/testdata/istio-webhook.ts';
import { sees, type Seen } from '../testdata/recording-terminal.ts';
import { operatorLeases } from '../testdata/operator-leases.ts';
import { RevisionCluster } from '../testdata/revision-cluster.ts';

type Finding = Record<'namespace' | 'kind' | 'name' | 'reason' | 'message' | 'command', string>;

describe('injector analyze', () => {
  let cluster: RevisionCluster;
  const injector = (...argv: string[]): Promise<Seen> => cluster.injector(['analyze', ...argv]);
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());

  it('exits with 0 if there is no problem, and with 1 if there is no leader', async () => {
    const entry = `1-24.${cluster.addRevision('1-24')}`;
    cluster.addNamespace('shop', { 'istio.io/rev': '1-24' });
    cluster.addNamespace('plain');
    cluster.addRevision('default');
    cluster.addTag('default', '1-24');
    cluster.addPod('shop', 'web', entry, { labels: { 'istio.io/rev': '1-24' } });
    cluster.addPod('shop', 'out', undefined, { labels: { 'sidecar.istio.io/inject': 'false' } });
    cluster.addPod('plain', 'web');
    const optsOut = { labels: { 'istio.io/rev': '1-24' }, annotations: { 'sidecar.istio.io/inject': 'false' } };
    cluster.addPod('plain', 'out', undefined, optsOut);
    const { out, errors, code } = await injector();
    assert.match(`${code}${errors} ${out}`, /^0 1 replica live; web-1 is the leader.*\n\nno problems found\n$/);
    cluster.memory.remove('leases', 'injector-leader-default', 'injection');
    const dead = await injector();
    assert.match(`${dead.code} ${dead.out}`, /^1 1 replica live; no leader yet\n\n/);
  });

  it('has one row when no operator is installed, with and without InjectorConfigs', async () => {
    const purged = new RevisionCluster();
    await purged.start();
    cluster.addRevision('1-24', { paused: true });
    cluster.addNamespace('shop', { 'istio.io/rev': '1-24' });
    cluster.addPod('shop', 'web');
    for (const each of [cluster, purged]) {
      for (const lease of operatorLeases()) each.memory.remove('leases', lease.metadata.name ?? '', 'injection');
      const { out, code } = await each.injector(['analyze']);
      const header = 'no operator is running, so .*; run `injector install`';
      const row = 'NAMESPACE +OBJECT +REASON\n- +operator/default +NotInstalled\n.*install one.*\n +injector install\n';
      assert.match(`${code} ${out}`, new RegExp(`^1 ${header}\n\n${row}$`));
    }
    for (const command of [['status'], ['tag', 'list'], ['revisions']])
      sees(await purged.injector(command), 1, { out: /^no operator is running, so .*; run `injector install`\n/ });
    await purged.stop();
  });

  it('reports the problem and the remedy of each namespace and workload, and exits with 3', async () => {
    const entry = `1-24.${cluster.addRevision('1-24')}`;
    cluster.addRevision('1-25', { paused: true });
    cluster.addTag('prod', '1-24');
    for (const [name, type, status] of [
      ['broken', 'Ready', 'False'],
      ['odd', 'TemplatesDoubtful', 'True'],
      ['waiting', 'Holding', 'True'],
    ] as const) {
      cluster.addRevision(name);
      const conditions = [{ type, status, reason: 'Why', message: 'so', lastTransitionTime: '2026-01-01T00:00:00Z' }];
      cluster.memory.edit('injectorconfigs', name, undefined, (config) => {
        config.status = { conditions };
      });
    }
    cluster.addTag('gone', '1-24');
    for (const name of ['sidecar-injector-1-25', 'sidecar-injector-tag-gone'])
      cluster.memory.remove('mutatingwebhookconfigurations', name);
    const unlabeled = { matchExpressions: [{ key: 'istio.io/rev', operator: 'DoesNotExist' }] };
    const byPod = istio({ namespaceSelector: unlabeled, objectSelector: revision('prod') }, { name: 'istio-by-pod' });
    for (const webhook of [byPod, istio({ namespaceSelector: revision('prod') })])
      cluster.memory.put('mutatingwebhookconfigurations', webhook);
    const revisions = { mistyped: 'prd', next: '1-26', paused: '1-25', twice: 'prod', shop: '1-24' };
    for (const [name, value] of Object.entries(revisions)) cluster.addNamespace(name, { 'istio.io/rev': value });
    cluster.addNamespace('off', { 'istio-injection': 'disabled' });
    cluster.addNamespace('own');
    for (const namespace of ['mistyped', 'paused', 'own']) cluster.addPod(namespace, 'web');
    cluster.addPod('twice', 'web', entry);
    cluster.addPod('shop', 'old', '1-24.00000000');
    cluster.addPod('shop', 'missing');
    const labels = { 'istio.io/rev': '1.24' };
    cluster.addPod('own', 'typo', undefined, { labels });
    cluster.addPod('own', 'typo', undefined, { labels });
    cluster.addPod('own', 'both', entry, { labels: { 'istio.io/rev': 'prod' } });
    cluster.addPod('own', 'bare', undefined, { labels: { 'istio.io/rev': '1-25' } });
    cluster.addPod('off', 'asks', undefined, { labels: { 'sidecar.istio.io/inject': 'true' } });
    const denied = 'admission webhook "rev.namespace.sidecar-injector.io" denied the request: no';
    const full = 'exceeded quota';
    const makers = { refused: [0, denied], served: [1, denied], bounded: [0, full], unasked: [0, full] };
    for (const [name, [replicas, message]] of Object.entries(makers)) {
      const namespace = name === 'unasked' ? 'off' : 'shop';
      const involvedObject = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace, name };
      const object = { ...involvedObject, metadata: { name, namespace } };
      cluster.memory.put('replicasets', { ...object, spec: { replicas: 1 }, status: { replicas } });
      cluster.memory.put('events', { ...object, kind: 'Event', reason: 'FailedCreate', involvedObject, message });
    }
    const { out, code } = await injector('-o', 'json');
    const found = (JSON.parse(out) as Finding[]).map(
      ({ namespace, kind, name, reason, message, command }) =>
        `${namespace}/${kind}/${name} ${reason}: ${message} => ${command}`,
    );
    const expected = [
      /^\/RevisionTag\/gone NotPublished: .*webhook was deleted.* => kubectl describe revisiontag gone$/,
      /^\/InjectorConfig\/1-25 Paused: .*is paused .* => injector enable 1-25$/,
      /^\/InjectorConfig\/broken Why: Ready False: Why: so => kubectl describe injectorconfig broken$/,
      /^\/InjectorConfig\/odd Why: TemplatesDoubtful True: Why: so => kubectl describe injectorconfig odd$/,
      /^\/InjectorConfig\/waiting Why: Holding True: Why: so => kubectl describe injectorconfig waiting$/,
      // The correct label would get its pods injected twice.
      /^mistyped\/Namespace\/mistyped UnknownRevision: .*did you mean prod\? => injector check namespace\/mistyped$/,
      /^next\/Namespace\/next UnknownRevision: .*existing names: 1-24, 1-25, broken, gone, odd, prod, waiting => injector check namespace\/next$/,
      /^paused\/Namespace\/paused Paused: .* => injector enable 1-25$/,
      /^twice\/Namespace\/twice ForeignWebhook: injected twice: webhook configuration istio-s.* => injector disable 1-24$/,
      /^off\/Deployment\/asks NotSelected: no sidecar; new pods are NotInjected.* => injector check pod\/asks-7d9-10 -n off$/,
      /^own\/Deployment\/bare Paused: .* => injector enable 1-25$/,
      /^own\/Deployment\/both ForeignWebhook: injected twice: webhook configuration istio-by-pod/,
      /^own\/Deployment\/typo UnknownRevision: the pod's label .* => kubectl patch deployment typo -n own .*:"1-24"}}}}}'$/,
      /^shop\/Deployment\/missing Missing: 0 stale, 1 missing: .* => kubectl rollout restart deployment\/missing -n shop$/,
      /^shop\/Deployment\/old Stale: 1 stale, 0 missing: .* => kubectl rollout restart deployment\/old -n shop$/,
      /^shop\/ReplicaSet\/bounded Refused: exceeded quota => injector check replicaset\/bounded -n shop --dry-run$/,
      /^shop\/ReplicaSet\/refused Refused: .*request: no => injector check replicaset\/refused -n shop --dry-run$/,
    ];
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? '', pattern);
    assert.equal(code, 3);
    const { out: text } = await injector('-n', 'own');
    assert.match(
      text,
      /\n\nNAMESPACE +OBJECT +REASON\nown +deployment\/bare +Paused\n {2}.*\n(?: {2}.*\n)* {2}injector enable/,
    );
    const isCommand = (line: string): boolean => /^ {2}(?:kubectl|injector) /.test(line);
    for (const line of text.split('\n').slice(2)) assert.ok(line.length <= 80 || isCommand(line), line);
    assert.deepEqual((await injector('-A', '-o', 'json')).out, out);
    assert.equal((await injector('-A', '-n', 'own')).code, 2);
    assert.match((await injector('-n', 'nowhere')).errors, /--namespace: there is no namespace nowhere/);
  });

  it('suggests a restart only if new pods get the sidecar, and says what else a command does', async () => {
    const expression = "object.metadata.labels['tier'] == 'web'";
    const picky = { webhook: { matchConditions: [{ name: 'web', expression }] } };
    cluster.addRevision('picky', picky);
    const entry = `1-24.${cluster.addRevision('1-24')}`;
    cluster.addNamespace('lost', { 'istio.io/rev': 'gone' });
    cluster.addNamespace('shop', { 'istio.io/rev': '1-24' });
    cluster.addPod('lost', 'web', entry);
    for (const name of ['paused', 'held', 'unsafe']) cluster.addPod('shop', name);
    cluster.addPod('shop', 'alone', '1-24.00000000', { ownerReferences: [] });
    cluster.memory.edit('pods', 'alone-7d9-4', 'shop', ({ metadata }) => delete metadata.ownerReferences);
    cluster.memory.edit('pods', 'held-7d9-2', 'shop', (pod) => {
      pod.spec = { containers: [], schedulingGates: [{ name: 'hold.sidecar-injector.io/x' }] };
    });
    const put = (name: string, annotations: object, paused = false): void => {
      const spec = {
        paused,
        template: { metadata: { annotations }, spec: { containers: [{ name: 'app', image: 'a' }] } },
      };
      cluster.memory.put('deployments', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace: 'shop' },
        spec,
      });
    };
    put('paused', {}, true);
    put('unsafe', { 'inject.istio.io/templates': 'none' });
    cluster.addNamespace('open');
    cluster.addPod('open', 'misplaced');
    const misplaced = cluster.memory.get('deployments', 'unsafe', 'shop');
    const labels = { 'istio.io/rev': '1-24' };
    cluster.memory.put('deployments', {
      ...misplaced!,
      metadata: { name: 'misplaced', namespace: 'open', labels },
      spec: { template: { spec: { containers: [] } } },
    });
    const { out } = await injector('-o', 'json');
    const found = (JSON.parse(out) as Finding[]).map(
      ({ name, message, command }) => `${name}: ${message} => ${command}`,
    );
    const expected = [
      /^picky: matchCondition web: .* fails for an ordinary pod.* => kubectl patch injectorconfig picky --type json -p '.*'\\''tier/,
      /^lost: .*no revision or tag gone.* => injector check namespace\/lost$/,
      /^web: .*; do not restart it: a new pod is NotInjected.* => injector check pod\/web-7d9-0 -n lost$/,
      /^held: 0 stale, 1 missing: not injected, because the pod is held until .* would get [^:;]*; scheduling gate hold.sidecar-injector.io\/x holds pods, which the operator replaces.* => kubectl describe injectorconfig 1-24$/,
      /^paused: .*rolls out the changes that wait => kubectl rollout resume .* && kubectl rollout restart deployment\/paused -n shop$/,
      /^unsafe: .*a new pod is Refused.* => kubectl patch deployment unsafe .*"inject.istio.io\/templates":null/,
      /^misplaced: the label of the Deployment istio.io\/rev=1-24 has no effect: .* => kubectl patch deployment misplaced .*"istio.io\/rev":"1-24"/,
      /^alone-7d9-: .*cannot be undone => kubectl get pod alone-7d9-4 -n shop -o yaml \| injector uninject -f - \| kubectl replace --force -f -$/,
    ];
    for (const pattern of expected)
      assert.ok(
        found.some((each) => pattern.test(each)),
        `${String(pattern)}\n${found.join('\n')}`,
      );
    assert.equal(found.length, expected.length, found.join('\n'));
  });

  it('says in each command that the last good configuration injects while the spec is broken', async () => {
    const hash = cluster.addRevision('1-24');
    cluster.addNamespace('shop', { 'istio.io/rev': '1-24' });
    cluster.addPod('shop', 'web', `1-24.${hash}`);
    cluster.breakSpec('1-24', 'line 3: unexpected "}"');
    const instead = `new pods still get the last good configuration, ${hash}`;
    const [finding] = JSON.parse((await injector('-o', 'json')).out) as Finding[];
    assert.equal(finding?.message, `Ready False (${instead}): ConfigurationInvalid: line 3: unexpected "}"`);
    const note = `InjectorConfig 1-24: its spec is not in effect: line 3: unexpected "}"; ${instead}`;
    const checked = await cluster.injector(['check', 'namespace/shop', '-o', 'json']);
    assert.ok((JSON.parse(checked.out) as { notes: string[] }[])[0]?.notes.includes(note), checked.out);
    assert.equal((await cluster.injector(['status'])).errors, note);
  });

  it('lists workloads whose new pods would change elements of the templates', async () => {
    const entry = `1-24.${cluster.addRevision('1-24')}`;
    cluster.addNamespace('shop', { 'istio.io/rev': '1-24' });
    const containers = [{ name: 'proxy', image: 'evil' }];
    const put = (plural: string, kind: string, name: string, more: object, owner?: string): void => {
      const ownerReferences = owner === undefined ? [] : [ownedBy(owner)];
      const metadata = { name, namespace: 'shop', ownerReferences };
      cluster.memory.put(plural, { apiVersion: plural === 'pods' ? 'v1' : 'apps/v1', kind, metadata, ...more });
    };
    const template = { spec: { template: { spec: { containers } } } };
    put('deployments', 'Deployment', 'web', template);
    put('deployments', 'Deployment', 'fine', { spec: { template: { spec: { containers: [{ name: 'web' }] } } } });
    put('replicasets', 'ReplicaSet', 'web-1', template, 'apps/v1 Deployment');
    const annotations = {
      'sidecar.istio.io/status': '{"revision":"1-24","containers":["proxy"]}',
      'proxy.istio.io/overrides': JSON.stringify({ containers }),
      'sidecar-injector.io/config': entry,
    };
    const metadata = { name: 'spark-1', namespace: 'shop', annotations, ownerReferences: [ownedBy('a.b/v1 Spark')] };
    put('pods', 'Pod', 'spark-1', { metadata, spec: { containers } });
    const { out } = await injector('-o', 'json');
    const found = (JSON.parse(out) as Finding[]).filter(({ reason }) => reason === 'SameName');
    assert.deepEqual(
      found.map(({ kind, name, command }) => `${kind}/${name}: ${command}`),
      ['Spark/owner: injector check pod/spark-1 -n shop', 'Deployment/web: injector check deployment/web -n shop'],
    );
    for (const { message } of found) assert.match(message, /^new pods are refused: .*spec\.containers\[proxy\]\.image/);
  });
});

function ownedBy(owner: string): OwnerReference {
  const [apiVersion = '', kind = ''] = owner.split(' ');
  return { apiVersion, kind, name: 'owner', uid: '1', controller: true };
}
