import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { readChart } from '../../src/cli/install/chart-files.ts';
import { renderChart } from '../../src/cli/install/render-chart.ts';
import { applyAll } from './apply.ts';
import { chartWorkloads, flagValue, type ChartWorkload } from './chart-workloads.ts';
import type { Cluster } from './cluster.ts';
import {
  startOperatorProcess,
  type OperatorProcess,
  type OperatorRole,
  type OperatorSettings,
} from './operator-process.ts';
import { serviceAccountKubeconfig } from './service-account.ts';
import { podsMatching, waitForDeployment, waitForEarlierNamespace } from './workloads.ts';

/**
 * Installs the chart into a namespace with Pod Security `restricted`, with server-side apply, CRDs
 * first. Fake kubelets run the pods of the chart. The operator under test runs as processes on this
 * machine, with ServiceAccount tokens and with the container's flags except addresses and ports.
 *
 * @param apply a function that applies the objects, for example with `injector install`
 * @param render returns the objects of another version's chart
 */
export async function installChart(
  cluster: Cluster,
  namespace: string,
  values: Record<string, unknown> = {},
  apply: (objects: KubernetesObject[]) => Promise<unknown> = (objects) => applyAll(cluster.client, objects),
  render: (namespace: string) => KubernetesObject[] = (release) => renderOurs(release, values),
) {
  const { client } = cluster;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', 'e2e.sidecar-injector.io/scenario': 'true' };
  const objects = render(namespace);
  const workloads = chartWorkloads(objects, namespace);
  // Kubelets of the user would start a second operator beside the process under test.
  if (cluster.context !== undefined) for (const { deployment } of workloads) deployment.spec.replicas = 0;
  await waitForEarlierNamespace(client, namespace);
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }, ...objects]);
  for (const { deployment } of cluster.hasControllers ? workloads : [])
    await waitForDeployment(client, namespace, deployment.metadata.name);
  const username = ({ account }: ChartWorkload) => `system:serviceaccount:${namespace}:${account}`;
  const writer = workloads.find(({ role }) => role !== 'webhook');
  if (writer === undefined) throw new Error('the chart renders no Deployment with a controller');
  const operators: OperatorProcess[] = [];
  const launchOperator = async (settings: Partial<OperatorSettings> = {}) => {
    const workload = workloadFor(workloads, settings.role);
    const pods = await podsMatching(client, namespace, workload.deployment.spec.selector.matchLabels);
    const pod = pods[operators.length % Math.max(pods.length, 1)];
    const kubeconfig =
      settings.kubeconfig ?? (await serviceAccountKubeconfig(cluster, namespace, workload.account, pod));
    const defaults = {
      name: `operator-${namespace}-${operators.length + 1}`,
      role: workload.role,
      namespace,
      kubeconfig,
      advertiseHost: cluster.advertiseHost,
      environment: workload.environment,
    };
    const flags = [...workload.flags, ...(settings.flags ?? [])];
    const operator = await startOperatorProcess({ ...defaults, ...settings, flags }, cluster.run);
    operators.push(operator);
    return operator;
  };
  return {
    namespace,
    /** The leader's user name in the audit log, `system:serviceaccount:…`. */
    username: username(writer),
    /** The user names of all roles. */
    usernames: [...new Set(workloads.map(username))],
    /** The name of the object that owns the operator's webhook configurations. */
    owner: flagValue(writer.flags, 'owner'),
    /** All rendered objects, in helm's order. */
    objects,
    workloads,
    operators,
    launchOperator,
    startOperator: async (settings?: Partial<OperatorSettings>) => {
      const operator = await launchOperator(settings);
      await operator.waitUntilReady();
      return operator;
    },
  };
}

function renderOurs(namespace: string, values: Record<string, unknown>): KubernetesObject[] {
  return renderChart(readChart(), { name: 'injector-operator', namespace, service: 'Helm' }, values).objects;
}

export type Installation = Awaited<ReturnType<typeof installChart>>;

/** Returns the Deployment of a role, or the only Deployment. */
export function workloadFor(workloads: ChartWorkload[], role: OperatorRole | undefined): ChartWorkload {
  const found =
    workloads.find((each) => each.role === (role ?? 'all')) ??
    workloads.find((each) => each.role === 'all') ??
    workloads[0];
  if (found === undefined) throw new Error('the chart renders no Deployment');
  return found;
}
