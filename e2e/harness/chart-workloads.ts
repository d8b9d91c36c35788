import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { OperatorRole } from './operator-process.ts';

export interface ChartWorkload {
  role: OperatorRole;
  deployment: DeploymentObject;
  account: string;
  /** The container's flags, except for flags that the harness itself sets. */
  flags: string[];
  /** The container's environment variables, except for variables from fields of the pod. */
  environment: Record<string, string>;
}

interface DeploymentObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { name: string };
  spec: {
    replicas?: number;
    selector: { matchLabels: Record<string, string> };
    template: {
      spec: {
        serviceAccountName?: string;
        containers: { args?: string[]; env?: { name: string; value?: string }[] }[];
      };
    };
  };
}

/** The flags that the harness sets: addresses, ports, names and log options. */
const ownFlags =
  /^--(role|namespace|identity|kubeconfig|context|advertise|bind-address|webhook-port|health-port|log-level|log-format)=/;

/** Returns the workloads for the Deployments among the chart's objects. */
export function chartWorkloads(objects: KubernetesObject[], namespace: string): ChartWorkload[] {
  const deployments = objects.filter((object): object is DeploymentObject => object.kind === 'Deployment');
  if (deployments.length === 0) throw new Error('the chart renders no Deployment');
  return deployments.map((deployment) => {
    const { serviceAccountName = 'default', containers } = deployment.spec.template.spec;
    const args = containers.flatMap(({ args: each }) => each ?? []).slice(1);
    return {
      role: (flagValue(args, 'role') ?? 'all') as OperatorRole,
      deployment,
      account: serviceAccountName,
      flags: args.filter((flag) => !ownFlags.test(flag)).map((flag) => flag.replaceAll('$(POD_NAMESPACE)', namespace)),
      environment: Object.fromEntries(
        containers
          .flatMap(({ env = [] }) => env)
          .flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
      ),
    };
  });
}

/** Returns the value of `--name=value` among arguments. */
export function flagValue(args: string[], name: string): string | undefined {
  const prefix = `--${name}=`;
  return args.find((each) => each.startsWith(prefix))?.slice(prefix.length);
}
