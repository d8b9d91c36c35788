import assert from 'node:assert/strict';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject, LabelSelector } from '../../api/kubernetes/kubernetes.ts';
import { podWebhooks } from '../../explain/pod-webhook.ts';
import { chooseWebhook } from '../../explain/webhook-choice.ts';
import { inject } from '../../inject/inject.ts';
import { type Injector, loadInjector } from '../../inject/injector.ts';
import { admissionPod, withServerDefaults } from '../../inject/kubernetes/admission-pod.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { istio, revision } from '../../selection/testdata/istio-webhook.ts';
import { standbyCondition } from '../adopt/standby-condition.ts';
import type { Proof } from '../adopt/proof.ts';
import { creationOf } from '../../explain/files/facts.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { sees, type Seen } from '../testdata/recording-terminal.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

const kindOf = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig' };
const annotationOf = (pod: KubernetesObject, name: string) => pod.metadata.annotations?.[name];

const unlabelled = ['istio-injection', 'istio.io/rev'].map((key) => ({ key, operator: 'DoesNotExist' as const }));

/** Returns Istio's webhooks: by the injection label, by revision default, and another. */
function chart(selector?: LabelSelector): KubernetesObject {
  const objectSelector = { matchLabels: { 'sidecar.istio.io/inject': 'true' } };
  const webhooks = [
    istio(),
    istio({ name: 'rev.namespace.sidecar-injector.istio.io', namespaceSelector: revision('default') }),
    ...(selector === undefined
      ? []
      : [istio({ name: 'object.sidecar-injector.istio.io', namespaceSelector: selector, objectSelector })]),
  ];
  return { ...istio(), webhooks: webhooks.flatMap((each) => each.webhooks) };
}

describe('injector adopt', () => {
  let cluster: RevisionCluster;
  let istiod: Injector;
  let hash: string;
  const { write } = temporaryFolder();

  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    const webhook = { takeover: true, matchConditions: [standbyCondition] };
    hash = cluster.addRevision('default', { ...injection('proxy:1'), webhook });
    cluster.addTag('adopted', 'default');
    istiod = injectorOf('proxy:1');
    cluster.memory.put('mutatingwebhookconfigurations', chart());
    for (const [name, data] of [
      ['istio', { mesh: '' }],
      ['istio-sidecar-injector', { config: '', values: '{}' }],
    ] as const)
      cluster.memory.put('configmaps', { ...configMap(name), data });
    cluster.memory.changesPod = admit;
    addNamespace('shop', { 'istio-injection': 'enabled' });
    addNamespace('plain', {});
    addPod('shop', 'web');
    addPod('plain', 'other');
  });
  afterEach(() => cluster.stop());

  const injection = (image: string) => {
    const sidecar = `spec:\n  containers:\n  - name: proxy\n    image: ${image}\n`;
    return { injection: { templates: { sidecar } } };
  };
  const configMap = (name: string): KubernetesObject => {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'istio-system' } };
  };

  function injectorOf(image: string): Injector {
    const config = parseInjectorConfig({ ...kindOf, metadata: { name: 'default' }, spec: injection(image) });
    return loadInjector(configurationFiles(config, {}));
  }

  function addNamespace(name: string, labels: Record<string, string>): void {
    cluster.addNamespace(name, { 'kubernetes.io/metadata.name': name, ...labels });
  }

  /** Adds a pod as the API server stores it. */
  function addPod(namespace: string, app: string, labels: Record<string, string> = {}): void {
    cluster.addPod(namespace, app, undefined, { labels });
    const name = cluster.memory.names('pods').at(-1) ?? '';
    cluster.memory.edit('pods', name, namespace, (pod) => {
      const created = { ...pod, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
      Object.assign(pod, withServerDefaults(admissionPod(created, namespace)), { status: {} });
      admit(pod);
      pod.metadata.name = name;
    });
  }

  /** Calls the webhooks for a pod, as the API server does. */
  function admit(pod: KubernetesObject): void {
    const namespace = pod.metadata.namespace ?? '';
    const namespaces = new Map(cluster.memory.list('namespaces').map((each) => [each.metadata.name ?? '', each]));
    for (const { webhook, target } of podWebhooks(cluster.memory.list('mutatingwebhookconfigurations'))) {
      const made = { ...pod } as Record<string, unknown>;
      const creation = creationOf({ namespace, pod: made }, namespaces);
      if (chooseWebhook(webhook, creation, creation.pod).called !== 'Yes') continue;
      const result = inject(target === undefined ? istiod : injectorOf('proxy:1'), { pod: made, namespace });
      if (result.outcome !== 'injected') continue;
      Object.assign(pod, withServerDefaults(result.pod));
      if (target !== undefined) {
        const entry = `${target.injectorConfig}.${target.hash}`;
        pod.metadata.annotations = { ...pod.metadata.annotations, [injectedByAnnotation]: entry };
      }
    }
  }

  const adopt = (...argv: string[]): Promise<Seen> => cluster.injector(['adopt', ...argv]);
  const prove = async (...argv: string[]): Promise<Proof> =>
    JSON.parse((await adopt('prove', '-o', 'json', ...argv)).out) as Proof;
  const proofFile = async (): Promise<string> => write('proof.json', JSON.stringify(await prove()));
  const istios = (): KubernetesObject =>
    cluster.memory.get('mutatingwebhookconfigurations', 'istio-sidecar-injector') as KubernetesObject;
  const labelsOf = (name: string) => cluster.memory.get('namespaces', name)?.metadata.labels;
  async function newPod(namespace: string, labels: Record<string, string> = {}): Promise<string> {
    const metadata = { name: 'new', namespace, labels };
    const spec = { containers: [{ name: 'app', image: 'app:1' }] };
    const pod = await cluster.memory.client.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, { dryRun: true });
    if (annotationOf(pod, 'sidecar.istio.io/status') === undefined) return 'bare';
    return annotationOf(pod, injectedByAnnotation) === undefined ? 'Istio' : 'ours';
  }

  describe('prove', () => {
    it('compares the answer of Istio for a new pod with the result of this injector', async () => {
      const { proof, workloads, summary } = await prove();
      assert.deepEqual(
        workloads.map(({ namespace, kind, name, changes }) => [namespace, kind, name, changes]),
        [['shop', 'Deployment', 'web', []]],
      );
      assert.deepEqual(proof.configurations, { default: hash });
      assert.deepEqual(Object.keys(proof.configMaps), ['istio-system/istio', 'istio-system/istio-sidecar-injector']);
      assert.deepEqual([proof.stale, proof.moved, proof.notCompared, summary.changed], [0, 0, [], 0]);
      assert.deepEqual(cluster.changes, []);
      sees(await adopt('prove'), 0, { out: /^from Istio's injector to .*no difference/s });
    });

    it('detects another image, and exits with 3', async () => {
      istiod = injectorOf('proxy:2');
      const seen = await adopt('prove');
      sees(seen, 3, { out: /image: 1 workload.*- proxy:2\n +\+ proxy:1/s, errors: /1 workload stale under Istio/ });
    });

    it('counts a pod as stale if it differs from the answer, whichever injector gives it', async () => {
      cluster.memory.edit('pods', cluster.memory.names('pods')[0] ?? '', 'shop', (pod) => {
        const { containers } = pod.spec as { containers: { name: string }[] };
        const older = containers.map((each) => (each.name === 'proxy' ? { ...each, image: 'proxy:0' } : each));
        pod.spec = { ...(pod.spec as object), containers: older };
      });
      const { proof, summary } = await prove();
      assert.deepEqual([proof.stale, summary.changed], [1, 0]);
    });

    it('accepts a difference that another webhook makes in pods of both injectors', async () => {
      cluster.memory.changesPod = (pod) => {
        admit(pod);
        if (annotationOf(pod, 'sidecar.istio.io/status') !== undefined)
          pod.metadata.annotations = { ...pod.metadata.annotations, other: 'webhook' };
      };
      const { workloads } = await prove();
      assert.deepEqual(
        workloads.map(({ changes, changedByOthers }) => [changes, changedByOthers]),
        [[[], ['metadata.annotations["other"]']]],
      );
    });

    it('exits with 5 if a dry run is refused, or nothing is compared', async () => {
      cluster.memory.faults.push(refusal('POST', '/pods', 403, 'exceeded quota', 1));
      sees(await adopt('prove'), 5, { errors: /deployment\/web in namespace shop not compared: .*exceeded quota/ });
      sees(await adopt('prove', '-n', 'plain'), 5, { errors: /nothing was compared: of 1 workload/ });
      sees(await adopt('prove', '-n', 'shp'), 5, { errors: /there is no namespace shp; .*did you mean shop/ });
      sees(await adopt('prove', '-i', 'plain'), 2, { errors: /namespace plain has no ConfigMap of Istio/ });
    });

    it('takes the injectors of files, which need not exist yet', async () => {
      const file = write(
        'other.json',
        JSON.stringify({ ...kindOf, metadata: { name: 'default' }, spec: injection('new:1') }),
      );
      sees(await adopt('prove', '-f', file), 3, { out: /- proxy:1\n +\+ new:1/ });
      const tagged = { ...kindOf, metadata: { name: 'other' }, spec: injection('proxy:1') };
      const unselected = write('tagged.json', JSON.stringify(tagged));
      sees(await adopt('prove', '-f', unselected), 3, { out: /no longer injected: 1 workload/ });
    });
  });

  describe('move and back', () => {
    it('moves a namespace by its label to a tag that only ours selects, and back', async () => {
      const proof = await proofFile();
      sees(await adopt('move', 'shop', '--proof', proof), 0, {
        out: /shop: moved by label istio.io\/rev=adopted; .* 1 w/,
      });
      assert.equal(await newPod('shop'), 'ours');
      assert.equal((await prove()).proof.moved, 1);
      sees(await adopt('back'), 0, { out: /shop: given back; Istio's injector answers for new pods of 1 workload/ });
      assert.deepEqual(labelsOf('shop'), { 'kubernetes.io/metadata.name': 'shop', 'istio-injection': 'enabled' });
      assert.equal(await newPod('shop'), 'Istio');
      sees(await adopt('back'), 0, { out: /nothing to give back/ });
    });

    it("moves a namespace by the selectors of Istio's webhooks, and back", async () => {
      const before = istios();
      sees(await adopt('move', '--all', '--by', 'selectors', '--proof', await proofFile()), 0, {
        out: /shop: moved by the selectors of Istio's webhooks/,
      });
      assert.equal(await newPod('shop'), 'ours');
      sees(await adopt('back', 'shop', 'plain'), 0, { out: /shop: given back/, errors: /plain: was not moved/ });
      assert.deepEqual(istios().webhooks, before.webhooks);
      assert.equal(await newPod('shop'), 'Istio');
    });

    it('gives a namespace back although the API server does not use the change yet', async () => {
      await adopt('move', 'shop', '--proof', await proofFile());
      cluster.memory.faults.push(refusal('POST', '/pods', 500, 'failed calling webhook', 2));
      sees(await adopt('back'), 0, { out: /shop: given back; Istio's injector answers/ });
      await adopt('move', 'shop', '--proof', await proofFile());
      cluster.memory.faults.push(refusal('POST', '/pods', 500, 'failed calling webhook'));
      sees(await adopt('back', '--timeout', '0'), 3, { out: /given back, but .* are refused: failed calling/ });
      assert.equal(labelsOf('shop')?.['istio-injection'], 'enabled');
    });

    it('takes a namespace back if another client changes the object meanwhile', async () => {
      const proof = await proofFile();
      cluster.memory.faults.push(refusal('PUT', '/istio-sidecar-injector', 409, 'the object has been modified', 1));
      sees(await adopt('move', 'shop', '--by', 'selectors', '--proof', proof), 3, {
        errors: /taken back, because the object has been modified/,
      });
      await adopt('move', 'shop', '--by', 'selectors', '--proof', proof);
      cluster.memory.faults.push(refusal('PUT', '/istio-sidecar-injector', 409, 'the object has been modified', 1));
      sees(await adopt('back', 'shop'), 0, { out: /shop: given back/ });
    });

    it('takes a namespace back if a new pod would be bare, different or refused', async () => {
      const proof = await proofFile();
      const isOurs = (pod: KubernetesObject): boolean => annotationOf(pod, injectedByAnnotation) !== undefined;
      const cases: [change: (pod: KubernetesObject) => void, problem: RegExp][] = [
        [(pod) => (pod.metadata.annotations = {}), /web would start without a sidecar/],
        [(pod) => (pod.metadata.labels = { another: 'label' }), /web would differ: metadata\.labels/],
      ];
      for (const [change, problem] of cases) {
        cluster.memory.changesPod = (pod) => {
          admit(pod);
          if (isOurs(pod)) change(pod);
        };
        for (const way of ['label', 'selectors']) {
          const seen = await adopt('move', 'shop', '--by', way, '--proof', proof);
          assert.match(seen.errors, /^namespace shop: taken back, because new pods of deployment/);
          sees(seen, 3, { errors: problem });
          assert.equal(await newPod('shop'), 'Istio');
        }
      }
    });

    it('refuses a proof that no longer holds, and writes nothing', async () => {
      const proof = await prove();
      const use = (changed: object) =>
        adopt('move', 'shop', '--proof', write('changed.json', JSON.stringify({ ...proof, ...changed })));
      const facts = proof.proof;
      const old = { ...facts, time: new Date(Date.now() - 3_700_000).toISOString() };
      sees(await use({ proof: old }), 4, { errors: /is more than one hour old/ });
      sees(await use({ proof: { ...facts, time: 'yesterday' } }), 4, { errors: /is more than one hour old/ });
      sees(await use({ proof: { ...facts, configurations: { default: '0' } } }), 4, {
        errors: /and configuration 0 is/,
      });
      sees(await use({ proof: { ...facts, namespace: 'plain' } }), 4, { errors: /covers only namespace plain/ });
      const missing = [{ namespace: 'shop', kind: 'Job', name: 'once', message: 'quota' }];
      sees(await use({ proof: { ...facts, notCompared: missing } }), 4, {
        errors: /job\/once was not compared: quota/,
      });
      const [workload] = proof.workloads;
      const changes = [{ kind: 'image', path: 'spec' }];
      sees(await use({ workloads: [{ ...workload, changes }] }), 4, { errors: /deployment\/web differ/ });
      sees(await use({ proof: undefined }), 2, { errors: /is not an output of `injector adopt prove/ });
      cluster.memory.put('configmaps', { ...configMap('istio'), data: { mesh: 'trustDomain: x' } });
      sees(await use({}), 4, { errors: /ConfigMap istio-system\/istio has changed since the proof/ });
      assert.deepEqual(cluster.changes, []);
    });

    it('refuses a way that does not suit the namespace, and says which one does', async () => {
      addNamespace('self', {});
      cluster.memory.put('mutatingwebhookconfigurations', chart({ matchExpressions: unlabelled }));
      addPod('self', 'cart', { 'sidecar.istio.io/inject': 'true' });
      const proof = await proofFile();
      sees(await adopt('move', 'self', '--by', 'label', '--proof', proof), 4, {
        errors: /opt in themselves.*--by selectors/,
      });
      sees(await adopt('move', 'nowhere', '--proof', proof), 5, { errors: /there is no namespace nowhere/ });
      sees(await adopt('move', '--proof', proof), 2, { errors: /name the namespaces to move, or --all/ });
      cluster.memory.edit('mutatingwebhookconfigurations', 'istio-sidecar-injector', undefined, ({ metadata }) => {
        metadata.annotations = { 'argocd.argoproj.io/tracking-id': 'istiod' };
      });
      sees(await adopt('move', 'self', '--proof', proof), 4, {
        errors:
          /reverted by Argo CD; nothing was changed\nor commit .*request.namespace in \['self'\].*operatorManageWebhooks/s,
      });
      sees(await adopt('move', 'shop', '--by', 'selectors', '--proof', proof), 4, {
        errors:
          /either label the namespace: `kubectl label namespace shop istio-injection- istio.io\/rev=adopted --over/,
      });
      cluster.memory.remove('mutatingwebhookconfigurations', 'sidecar-injector-tag-adopted');
      sees(await adopt('move', 'shop', '--proof', proof), 4, { errors: /injector tag set NAME --revision REVISION/ });
      assert.deepEqual(cluster.changes, []);
    });

    it('refuses while ours does not stand by', async () => {
      const proof = await proofFile();
      cluster.memory.edit('mutatingwebhookconfigurations', 'sidecar-injector-default', undefined, (configuration) => {
        configuration.webhooks = (configuration.webhooks as object[]).map((each) => ({ ...each, matchConditions: [] }));
      });
      sees(await adopt('move', 'shop', '--proof', proof), 4, {
        errors: /not on standby: run `injector adopt standby`/,
      });
    });
  });

  describe('finish', () => {
    it('is refused while Istio gets pods, and if something would revert it', async () => {
      sees(await adopt('finish'), 4, { errors: /Istio's injector still gets new pods of shop; move them/ });
      await adopt('move', 'shop', '--proof', await proofFile());
      cluster.memory.edit('mutatingwebhookconfigurations', 'istio-sidecar-injector', undefined, ({ metadata }) => {
        metadata.labels = { 'kustomize.toolkit.fluxcd.io/name': 'istio' };
      });
      sees(await adopt('finish'), 4, {
        errors: /reverted by Flux\nleave it out by .*global.operatorManageWebhooks=true/,
      });
    });

    it("deactivates Istio's webhooks, and `back` without an operator restores them", async () => {
      const before = istios();
      await adopt('move', 'shop', '--proof', await proofFile());
      sees(await adopt('finish', '--timeout', '0'), 1, { out: /istio-sidecar-injector: deactivated/ });
      assert.match(JSON.stringify(istios().webhooks), /never-match/);
      const { spec } = cluster.memory.get('injectorconfigs', 'default') as {
        spec?: { webhook: Record<string, unknown> };
      };
      assert.deepEqual([spec?.webhook.takeover, spec?.webhook.matchConditions], [false, []]);
      sees(await adopt('back', 'shop'), 2, { errors: /name no namespace/ });
      sees(await adopt('back'), 0, { out: /active again; .*\nnamespace shop: given back/ });
      assert.deepEqual(istios().webhooks, before.webhooks);
      assert.equal(await newPod('shop'), 'Istio');
    });
  });
});
