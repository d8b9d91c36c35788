import type { KubernetesObject } from '../../src/api/kubernetes.ts';
import { podsOf, waitForDeployment, waitForEarlierNamespace } from './workloads.ts';
import { applyAll } from './apply.ts';
import type { Cluster } from './cluster.ts';
import { renderChart } from './helm.ts';
import { startOperatorProcess, type OperatorProcess, type OperatorSettings } from './operator-process.ts';
import { serviceAccountKubeconfig } from './service-account.ts';

/** The chart's objects on a cluster, and operator processes that act with the chart's own rights. */
export interface Installation {
  namespace: string;
  /** `system:serviceaccount:…`: the name under which the audit log knows the operator. */
  username: string;
  /** The name of the object that owns the operator's webhook configurations, as the chart passes it. */
  owner: string | undefined;
  /** Everything the chart rendered, in helm's order. */
  objects: KubernetesObject[];
  operators: OperatorProcess[];
  /** Starts one operator process and waits until it is ready. */
  startOperator: (settings?: Partial<OperatorSettings>) => Promise<OperatorProcess>;
  /** Starts one without waiting. */
  launchOperator: (settings?: Partial<OperatorSettings>) => Promise<OperatorProcess>;
}

interface PodTemplateOwner extends KubernetesObject {
  spec: { replicas?: number; template: { spec: { serviceAccountName?: string; containers: { args?: string[] }[] } } };
}

/**
 * Installs the chart into a namespace under Pod Security `restricted`, server-side applied, CRDs first.
 * The chart's Deployment gets its pods from the fake kubelets; the operator under test runs as a process on this machine
 * with the token of the chart's ServiceAccount and the arguments that the chart gives the container, save addresses and ports.
 */
export async function installChart(
  cluster: Cluster,
  namespace: string,
  values: Record<string, unknown> = {},
): Promise<Installation> {
  const { client } = cluster;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', 'e2e.sidecar-injector.io/scenario': 'true' };
  const objects = await renderChart({ name: 'injector-operator', namespace, values }, cluster.run.path);
  const workload = objects.find((object): object is PodTemplateOwner => object.kind === 'Deployment');
  if (workload === undefined) throw new Error('the chart renders no Deployment');
  // Real kubelets would start a second operator beside the process under test.
  if (!cluster.fakeNodes) workload.spec.replicas = 0;
  await waitForEarlierNamespace(client, namespace);
  await applyAll(client, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }, ...objects]);
  const pod = workload.spec.template.spec;
  const account = pod.serviceAccountName ?? 'default';
  const chartFlag = (name: string) =>
    flagValue(
      pod.containers.flatMap(({ args }) => args ?? []),
      name,
    );
  const owner = chartFlag('owner');
  await waitForDeployment(client, namespace, workload.metadata.name ?? '');
  const operators: OperatorProcess[] = [];
  const launchOperator = async (settings: Partial<OperatorSettings> = {}) => {
    const replicas = await podsOf(client, namespace);
    const kubeconfig =
      settings.kubeconfig ??
      (await serviceAccountKubeconfig(
        cluster,
        namespace,
        account,
        replicas[operators.length % Math.max(replicas.length, 1)],
      ));
    const defaults = {
      name: `operator-${namespace}-${operators.length + 1}`,
      namespace,
      kubeconfig,
      advertiseHost: cluster.advertiseHost,
    };
    const operator = await startOperatorProcess(
      { ...defaults, ...(owner === undefined ? {} : { owner }), ...settings },
      cluster.run,
    );
    operators.push(operator);
    return operator;
  };
  return {
    namespace,
    username: `system:serviceaccount:${namespace}:${account}`,
    owner,
    objects,
    operators,
    launchOperator,
    startOperator: async (settings) => {
      const operator = await launchOperator(settings);
      await operator.waitUntilReady();
      return operator;
    },
  };
}

/** The value of `--name=value` or `--name value` among arguments. */
function flagValue(args: string[], name: string): string | undefined {
  const index = args.findIndex((each) => each === `--${name}` || each.startsWith(`--${name}=`));
  const found = args[index];
  if (found === undefined) return undefined;
  return found.includes('=') ? found.slice(found.indexOf('=') + 1) : args[index + 1];
}
