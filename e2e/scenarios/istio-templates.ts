import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyAll, applyObject } from '../harness/apply.ts';
import { applyUntilReady, conditionOf } from '../harness/injector-configs.ts';
import { podTable, readyColumn } from '../harness/pod-table.ts';
import { isInjected, type Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { barePod, podsOf } from '../harness/workloads.ts';
import { difference, type Surroundings, type PodPair } from './istio-templates/expected-pod.ts';
import {
  injectorOf,
  istioConfig,
  istioConfigMaps,
  istioTexts,
  withTag,
  type IstioTexts,
} from './istio-templates/istio-texts.ts';
import { withProxyConfigs } from './istio-templates/proxy-config-definition.ts';

const revision = 'from-istio';

export const istioTemplates: Scenario = {
  name: 'istio-templates',
  core: true,
  about:
    "with references to Istio's ConfigMaps, the stored pods of every kind of workload equal the engine's results, before and after edits of the ConfigMaps",
  run: (context) => withProxyConfigs(context.client, () => walk(context)),
};

async function walk(context: ScenarioContext): Promise<string> {
  const { client } = context;
  const { texts, source } = istioTexts();
  await context.startOperator();
  const istio = await context.namespace('istio');
  await applyAll(client, istioConfigMaps(istio, revision, texts));
  await applyUntilReady(client, istioConfig(istio, revision));
  const plain = await context.namespace('plain');
  const mesh = await context.namespace('mesh', { 'istio.io/rev': revision });
  const scratch = await context.namespace('scratch');
  for (const kind of workloadKinds) {
    for (const namespace of [plain, mesh]) await createWorkload(client, kind, namespace);
  }
  const setting = { injector: injectorOf(revision, texts), nodes: await nodeFacts(client), scratch, plain, mesh };

  let compared = 0;
  for (const kind of workloadKinds) compared += await checkKind(context, kind, setting);
  await checkControl(context, setting, texts);
  if (context.cluster.fakeNodes) await checkNative(context, mesh);
  const edits = await checkEdits(context, istio, texts, setting);
  return `${compared} pods of ${workloadKinds.length} kinds of workload equal the engine's results, also after ${edits} edits; ${source}`;
}

/** Checks that every pod of a workload equals the engine's result. Returns the number of pods. */
async function checkKind(context: ScenarioContext, kind: WorkloadKind, setting: Surroundings): Promise<number> {
  const least = { Deployment: 2, StatefulSet: 2, DaemonSet: setting.nodes.length, Job: 1, CronJob: 1 }[kind];
  return context.check(`each stored pod of the ${kind} equals the engine's result for its request`, async () => {
    const pairs = await podPairs(context.client, kind, setting, least);
    if (pairs === undefined) return undefined;
    for (const [plainPod, pod] of pairs) {
      if (isInjected(plainPod) || !isInjected(pod)) throw new Error('a pod is injected in the wrong namespace');
      found(await difference(context.client, setting, [plainPod, pod]), '');
    }
    return pairs.length;
  });
}

/** Checks the negative control: the comparison must detect a wrong image tag. */
async function checkControl(context: ScenarioContext, setting: Surroundings, texts: IstioTexts): Promise<void> {
  const injector = injectorOf(revision, withTag(texts, 'another'));
  await context.check('negative control: the comparison detects a wrong image tag', async () => {
    const [pair] = (await podPairs(context.client, 'Deployment', setting, 1)) ?? [];
    if (pair === undefined) return false;
    const said = await difference(context.client, { ...setting, injector }, pair);
    return /image: got ".*", expected ".*:another"/.test(said);
  });
}

/** Checks that proxies are native sidecars, that pods become ready, and that Jobs complete. */
async function checkNative(context: ScenarioContext, namespace: string): Promise<void> {
  const { client } = context;
  const isNative = ({ spec }: Pod): boolean =>
    (spec.initContainers ?? []).some(({ name, restartPolicy }) => name === 'istio-proxy' && restartPolicy === 'Always');
  for (const kind of ['deployment', 'statefulset', 'daemonset']) {
    await context.check(`the proxies of the ${kind} are native sidecars, and its pods are ready (2/2)`, async () => {
      const pods = await podsOf(client, namespace, `shop-${kind}`);
      return pods.every(isNative) && found([...new Set(pods.map(readyColumn))].join(), '2/2');
    });
  }
  await context.check('the pod of the Job succeeds although it has a native sidecar', async () => {
    const pods = await podsOf(client, namespace, 'shop-job');
    return pods.every(isNative) && found(pods.map(({ status }) => status?.phase).join(), 'Succeeded');
  });
  context.say(podTable(await podsOf(client, namespace), new Date()).replaceAll('\n', '\n      '));
}

interface Node {
  metadata: { name: string };
  status: { nodeInfo: { kubeletVersion: string } };
}

async function nodeFacts(client: ApiClient) {
  const { items } = await client.listAll<Node>(resourceKind('v1', 'Node'));
  return items.map(({ metadata, status }) => ({ name: metadata.name, ...status.nodeInfo }));
}

/** New texts for some keys; null removes a key. */
type Edit = Partial<Record<keyof IstioTexts, string | null>>;

/** Checks that valid edits take effect and invalid edits are reported. Returns their number. */
async function checkEdits(context: ScenarioContext, istio: string, texts: IstioTexts, setting: Surroundings) {
  const { client } = context;
  const edit = async ({ mesh, ...others }: Edit): Promise<void> => {
    const [config, meshConfig] = istioConfigMaps(istio, revision, texts) as [KubernetesObject, KubernetesObject];
    if (Object.keys(others).length > 0) await client.patch(config, 'merge', { data: others });
    if (mesh !== undefined) await client.patch(meshConfig, 'merge', { data: { mesh } });
  };

  const tagged = withTag(texts, 'edited');
  await edit({ values: tagged.values });
  const after = { ...setting, injector: injectorOf(revision, tagged) };
  await checkPod(context, 'an edit of the values takes effect in pods', after);

  const meshText = `${texts.mesh.replace(/^trustDomain:.*$/m, '').trimEnd()}\ntrustDomain: edited.example\n`;
  const renamed = { ...tagged, mesh: meshText };
  await edit({ mesh: renamed.mesh });
  const whole = { ...setting, injector: injectorOf(revision, renamed) };
  await checkPod(context, 'an edit of the mesh config takes effect in pods', whole);

  const proxyConfig = {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'ProxyConfig',
    metadata: { name: 'seven', namespace: setting.mesh },
    spec: { concurrency: 7, image: { imageType: 'distroless' } },
  };
  await applyObject(client, proxyConfig);
  const proxied = { ...whole, proxyConfigs: [proxyConfig] };
  await checkPod(context, 'a new ProxyConfig takes effect in pods', proxied);
  const pair = await podPair(client, setting);
  await context.check('the ProxyConfig changes the pod', async () => (await difference(client, whole, pair)) !== '');

  const broken: [says: string, changed: Edit, reason: string, message: RegExp][] = [
    [
      'the ConfigMap, key, line and column of a broken template',
      { config: 'templates:\n  sidecar: "{{ if }}"\n' },
      'ConfigurationInvalid',
      new RegExp(`revision ${revision}.*key "config" of configmap "istio-sidecar-injector-.*line 1, column`),
    ],
    [
      'a config without templates',
      { config: 'policy: enabled\n' },
      'ConfigurationInvalid',
      /config\.defaultTemplates names "sidecar", which is not in config\.templates/,
    ],
    [
      'a broken mesh config',
      { mesh: 'defaultConfig: 7' },
      'ConfigurationInvalid',
      /key "mesh".*cannot parse mesh config/,
    ],
    ['broken values', { values: '[1]' }, 'ReferenceInvalid', /key "values" of configmap .* must be a JSON or YAML map/],
    [
      'a missing key',
      { mesh: null },
      'ReferenceInvalid',
      new RegExp(`missing configuration map key "mesh" in configmap "istio-${revision}"`),
    ],
    ['missing values', { values: null }, 'ReferenceInvalid', /missing configuration map key "values"/],
  ];
  for (const [says, changed, reason, message] of broken) {
    await edit(changed);
    await checkRefused(says, reason, message);
    await checkPod(context, 'after the invalid edit, pods are still injected as before', proxied);
    await edit(renamed);
    await checkReady();
  }

  const [, meshConfig] = istioConfigMaps(istio, revision, renamed) as [KubernetesObject, KubernetesObject];
  await client.delete(meshConfig);
  const gone = new RegExp(`could not read valid configmap "istio-${revision}" from namespace "${istio}"`);
  await checkRefused('a missing ConfigMap', 'ReferenceInvalid', gone);
  await client.create(meshConfig);
  await checkReady();
  await client.delete(proxyConfig);
  await checkPod(context, 'after the ProxyConfig is deleted, pods are injected as before', whole);
  return broken.length + 5;

  async function checkRefused(says: string, reason: string, message: RegExp): Promise<void> {
    await context.check(`condition TemplatesValid reports ${says}`, async () => {
      const said = await conditionOf(client, revision, 'TemplatesValid');
      found(said?.reason ?? '', reason);
      return message.test(said?.message ?? '') || found(said?.message ?? '', message.source);
    });
  }

  async function checkReady(): Promise<void> {
    await context.check('after the correction, the InjectorConfig is Ready', async () =>
      found((await conditionOf(client, revision, 'Ready'))?.status ?? '', 'True'),
    );
  }
}

/** Checks that a new pod equals the engine's result. */
async function checkPod(context: ScenarioContext, says: string, setting: Surroundings): Promise<void> {
  const { client } = context;
  await context.check(says, async () => found(await difference(client, setting, await podPair(client, setting)), ''));
}

/** Dry-runs the same pod without and with injection, and returns both results. */
function podPair(client: ApiClient, { plain, mesh }: Surroundings): Promise<PodPair> {
  return Promise.all([dryRun(client, barePod(plain, 'edit')), dryRun(client, barePod(mesh, 'edit'))]);
}

const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const;
type WorkloadKind = (typeof workloadKinds)[number];

/** Creates a workload. Sets a CronJob's last run two minutes back, so that it runs immediately. */
async function createWorkload(client: ApiClient, kind: WorkloadKind, namespace: string): Promise<void> {
  const object = workload(kind, namespace);
  await client.create(object);
  if (kind !== 'CronJob') return;
  const lastScheduleTime = `${new Date(Date.now() - 120_000).toISOString().slice(0, 19)}Z`;
  await client.patch(object, 'merge', { status: { lastScheduleTime } }, { subresource: 'status' });
}

/** Returns a workload with the fields that proxy templates read, such as ports and probes. */
function workload(kind: WorkloadKind, namespace: string): KubernetesObject {
  const app = appOf(kind);
  const selector = { matchLabels: { app } };
  const isJob = kind === 'Job' || kind === 'CronJob';
  const template = {
    metadata: { labels: { app, version: 'v1' }, annotations: { 'e2e.sidecar-injector.io/kind': kind } },
    spec: { containers: [container], terminationGracePeriodSeconds: 5, ...(isJob ? { restartPolicy: 'Never' } : {}) },
  };
  const [apiVersion, spec] = {
    Deployment: ['apps/v1', { replicas: 2, selector, template }],
    StatefulSet: ['apps/v1', { replicas: 2, selector, template, serviceName: app }],
    DaemonSet: ['apps/v1', { selector, template }],
    Job: ['batch/v1', { template }],
    CronJob: ['batch/v1', { schedule: '* * * * *', jobTemplate: { spec: { template } } }],
  }[kind] as [string, object];
  return { apiVersion, kind, metadata: { name: app, namespace }, spec };
}

const container = {
  name: 'app',
  image: 'registry.example.com/app:1',
  ports: [{ name: 'http', containerPort: 8080 }, { containerPort: 9090 }],
  readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
  livenessProbe: { tcpSocket: { port: 9090 }, periodSeconds: 5 },
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
};

/** Pairs a workload's plain and injected pods. Returns undefined for fewer than `least` pairs. */
async function podPairs(client: ApiClient, kind: WorkloadKind, { plain, mesh }: Surroundings, least: number) {
  const [some, others] = await Promise.all([podsOf(client, plain, appOf(kind)), podsOf(client, mesh, appOf(kind))]);
  const pairs = some.flatMap((plainPod): PodPair[] => {
    const pod = others.find((each) => keyOf(kind, each) === keyOf(kind, plainPod));
    // Some pods have the same key. Use each injected pod only once.
    if (pod === undefined) return [];
    others.splice(others.indexOf(pod), 1);
    return [[plainPod, pod]];
  });
  return pairs.length < least ? undefined : pairs;
}

/** Returns what distinguishes the pods of one workload: the node, the name, or the owning Job. */
function keyOf(kind: WorkloadKind, { metadata, spec }: Pod): string {
  if (kind === 'DaemonSet') return JSON.stringify(spec.affinity);
  if (kind === 'StatefulSet') return metadata.name ?? '';
  return kind === 'CronJob' ? (metadata.ownerReferences?.[0]?.name ?? '') : '';
}

function appOf(kind: WorkloadKind): string {
  return `shop-${kind.toLowerCase()}`;
}
