import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { applyAll, parseObjects } from './apply.ts';
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
import { paths } from './paths.ts';

/**
 * Installs the chart into a namespace under Pod Security `restricted`, server-side applied, CRDs first.
 * The chart's Deployments get their pods from the fake kubelets; the operator under test runs as processes on this machine, each with a token of the
 * chart's ServiceAccount and the flags that the chart gives the container, save addresses and ports.
 */
export async function installChart(cluster: Cluster, namespace: string, values: Record<string, unknown> = {}) {
  const { client } = cluster;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', 'e2e.sidecar-injector.io/scenario': 'true' };
  const objects = await renderChart({ name: 'injector-operator', namespace, values }, cluster.run.path);
  const workloads = chartWorkloads(objects, namespace);
  // Real kubelets would start a second operator beside the process under test.
  if (!cluster.fakeNodes) for (const { deployment } of workloads) deployment.spec.replicas = 0;
  await waitForEarlierNamespace(client, namespace);
  await applyAll(client, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }, ...objects]);
  for (const { deployment } of workloads) await waitForDeployment(client, namespace, deployment.metadata.name);
  const username = ({ account }: ChartWorkload) => `system:serviceaccount:${namespace}:${account}`;
  const writer = workloads.find(({ role }) => role !== 'webhook');
  if (writer === undefined) throw new Error('the chart renders no Deployment that leads');
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
    /** `system:serviceaccount:…`: the name under which the audit log knows who writes (the leader). */
    username: username(writer),
    /** Those of every role. */
    usernames: [...new Set(workloads.map(username))],
    /** The name of the object that owns the operator's webhook configurations, as the chart passes it. */
    owner: flagValue(writer.flags, 'owner'),
    /** Everything the chart rendered, in helm's order. */
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

export type Installation = Awaited<ReturnType<typeof installChart>>;

/** The Deployment that runs a role: a chart that runs everything in one runs that too. */
export function workloadFor(workloads: ChartWorkload[], role: OperatorRole | undefined): ChartWorkload {
  const found =
    workloads.find((each) => each.role === (role ?? 'all')) ??
    workloads.find((each) => each.role === 'all') ??
    workloads[0];
  if (found === undefined) throw new Error('the chart renders no Deployment');
  return found;
}

const run = promisify(execFile);

/**
 * Renders our chart, CRDs included, with real helm; no cluster is asked.
 *
 * @param directory where the values file is written
 * @throws Error with what helm said
 */
export async function renderChart(
  release: { name: string; namespace: string; values: Record<string, unknown> },
  directory: string,
): Promise<KubernetesObject[]> {
  const values = join(directory, `${release.name}-${release.namespace}-values.json`);
  writeFileSync(values, JSON.stringify(release.values));
  const flags = ['--namespace', release.namespace, '--values', values, '--include-crds', '--kube-version', '1.36.3'];
  const { stdout } = await run(paths.helm, ['template', release.name, paths.chart, ...flags], { maxBuffer: 64 << 20 });
  return parseObjects(stdout);
}
