import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyAll } from '../harness/apply.ts';
import { found } from '../harness/wait-for.ts';
import { applyUntilReady, type InjectorConfigObject } from '../harness/injector-configs.ts';
import { podTable, readyColumn } from '../harness/pod-table.ts';
import { isInjected, type Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { podsOf } from '../harness/workloads.ts';
import { checkEdits } from './istio-templates/edits.ts';
import { comparable, expectedPod, firstDifference, type Surroundings } from './istio-templates/expected-pod.ts';
import { injectorOf, istioConfigMaps, istioTexts, withTag, type IstioTexts } from './istio-templates/istio-texts.ts';
import { withProxyConfigs } from './istio-templates/proxy-config-definition.ts';
import { createWorkload, twins, workloadKinds, type WorkloadKind } from './istio-templates/workloads.ts';

const revision = 'from-istio';

/** An installation's own ConfigMaps, and pods of every kind of workload: each must be what the engine makes of it. */
export const istioTemplates: Scenario = {
  name: 'istio-templates',
  core: true,
  about:
    "Istio's ConfigMaps by reference: pods of every kind of workload equal the engine's results, edits are followed",
  paired: true,
  run: (context) => withProxyConfigs(context.client, () => walk(context)),
};

async function walk(context: ScenarioContext): Promise<string> {
  const { client } = context;
  const { texts, source } = istioTexts();
  const installation = await context.install();
  await installation.startOperator();
  const istio = await context.namespace('istio');
  await applyAll(client, istioConfigMaps(istio, revision, texts));
  const config = await applyUntilReady(client, injectorConfig(istio));
  const plain = await context.namespace('plain');
  const mesh = await context.namespace('mesh', { 'istio.io/rev': revision });
  const scratch = await context.namespace('scratch');
  for (const kind of workloadKinds) {
    for (const namespace of [plain, mesh]) await createWorkload(client, kind, namespace);
  }
  const around = { injector: injectorOf(revision, texts), nodes: await nodeFacts(client), scratch };

  const namespaces = [plain, mesh] as const;
  let compared = 0;
  for (const kind of workloadKinds) {
    compared += await checkKind(context, kind, namespaces, around);
  }
  await checkControl(context, namespaces, around, texts);
  if (context.cluster.fakeNodes) await checkNative(context, mesh);
  const edits = await checkEdits(context, { config, istio, revision, texts, plain, mesh, around });
  return `${compared} pods of ${workloadKinds.length} kinds of workload equal the engine's results, ${edits} edits; ${source}`;
}

function injectorConfig(namespace: string): InjectorConfigObject {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'InjectorConfig',
    metadata: { name: revision },
    spec: {
      injection: {
        configFrom: { namespace, name: `istio-sidecar-injector-${revision}`, key: 'config' },
        meshConfigFrom: { namespace, name: `istio-${revision}`, key: 'mesh' },
      },
    },
  };
}

/** Every pod of a workload equals the engine's result for its request, and is injected at all. Returns how many there are. */
async function checkKind(
  context: ScenarioContext,
  kind: WorkloadKind,
  namespaces: readonly [string, string],
  around: Surroundings,
): Promise<number> {
  const least = { Deployment: 2, StatefulSet: 2, DaemonSet: around.nodes.length, Job: 1, CronJob: 1 }[kind];
  return context.check(`each stored pod of the ${kind} is what the engine makes of its request`, async () => {
    const pairs = await twins(context.client, kind, namespaces, least);
    if (pairs === undefined) return undefined;
    for (const { twin, pod } of pairs) {
      if (isInjected(twin) || !isInjected(pod))
        throw new Error('injected where it should not be, or not where it should');
      const expected = await expectedPod(context.client, around, twin, pod);
      found(firstDifference(comparable(pod), expected), '');
    }
    return pairs.length;
  });
}

/** The comparison can fail: a pod is not what the engine makes of it with another tag. */
async function checkControl(
  context: ScenarioContext,
  namespaces: readonly [string, string],
  around: Surroundings,
  texts: IstioTexts,
): Promise<void> {
  const injector = injectorOf(revision, withTag(texts, 'another'));
  await context.check('with another tag in the values the same comparison finds the image', async () => {
    const [pair] = (await twins(context.client, 'Deployment', namespaces, 1)) ?? [];
    if (pair === undefined) return false;
    const expected = await expectedPod(context.client, { ...around, injector }, pair.twin, pair.pod);
    return /image: ".*" instead of ".*:another"/.test(firstDifference(comparable(pair.pod), expected));
  });
}

/** The proxies are native sidecars, since the kubelets know them, and fake kubelets make their pods ready; Jobs end. */
async function checkNative(context: ScenarioContext, namespace: string): Promise<void> {
  const { client } = context;
  const isNative = ({ spec }: Pod): boolean =>
    (spec.initContainers ?? []).some(({ name, restartPolicy }) => name === 'istio-proxy' && restartPolicy === 'Always');
  for (const kind of ['deployment', 'statefulset', 'daemonset']) {
    await context.check(`the proxies of the ${kind} are native sidecars: 2/2`, async () => {
      const pods = await podsOf(client, namespace, `shop-${kind}`);
      return pods.every(isNative) && found([...new Set(pods.map(readyColumn))].join(), '2/2');
    });
  }
  await context.check('with a native sidecar the pod of the Job ends', async () => {
    const pods = await podsOf(client, namespace, 'shop-job');
    return pods.every(isNative) && found(pods.map(({ status }) => status?.phase).join(), 'Succeeded');
  });
  context.say(podTable(await podsOf(client, namespace), new Date()).replaceAll('\n', '\n      '));
}

async function nodeFacts(client: ApiClient): Promise<{ name: string; kubeletVersion: string }[]> {
  const { items } = await client.listAll<{
    metadata: { name: string };
    status?: { nodeInfo?: { kubeletVersion?: string } };
  }>(resourceKind('v1', 'Node'));
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
  }));
}
