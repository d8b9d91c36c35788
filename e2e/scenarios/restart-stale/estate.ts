import type { KubernetesObject } from '../../../src/api/kubernetes.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, type WorkloadOptions } from '../../harness/workloads.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

/** A pod takes so long to become ready that whoever looks can see that its workload is being replaced. */
const slowly = { 'e2e.sidecar-injector.io/ready-after': '600ms' };

/** The tag that all of it follows. */
export const tag = 'prod';

/** A workload whose pods take a moment to become ready; those of a DaemonSet run on both nodes. */
export function workload(
  kind: WorkloadKind,
  namespace: string,
  name: string,
  options: WorkloadOptions & { update?: Record<string, unknown> } = {},
): KubernetesObject {
  const { replicas = 1, update = {}, annotations } = options;
  const { spec, metadata } = barePod(namespace, name, { ...options, annotations: { ...slowly, ...annotations } });
  const template = { metadata: { labels: metadata.labels, annotations: metadata.annotations }, spec };
  const common = { selector: { matchLabels: { app: name } }, template };
  const own = {
    Deployment: { replicas, strategy: update },
    // In order, one that crashes would stay for ever: the controller waits for it before it replaces it.
    StatefulSet: { replicas, serviceName: name, podManagementPolicy: 'Parallel', updateStrategy: update },
    DaemonSet: { updateStrategy: update },
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name, namespace }, spec: { ...common, ...own[kind] } };
}

/** The kinds in the order in which they are handed out; a Deployment with two pods loses one while it is restarted. */
const mixture: readonly [kind: WorkloadKind, options: Parameters<typeof workload>[3]][] = [
  ['Deployment', {}],
  ['StatefulSet', {}],
  ['Deployment', {}],
  ['DaemonSet', {}],
  ['Deployment', { replicas: 2, update: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } }],
  ['Deployment', {}],
  ['StatefulSet', { replicas: 2 }],
];

/** Workloads of the three kinds in several namespaces that follow the tag; their names as `namespace/name`. */
export async function createEstate(context: ScenarioContext, namespaces: number, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let index = 0; index < namespaces; index++) {
    names.push(await context.namespace(`estate-${index}`, { 'istio.io/rev': tag }));
  }
  const objects = Array.from({ length: count }, (_, index) => {
    const [kind, options] = mixture[index % mixture.length] ?? ['Deployment', {}];
    const namespace = names[index % names.length] ?? '';
    return workload(kind, namespace, `work-${String(index).padStart(3, '0')}`, options);
  });
  await createAll(context, objects);
  return objects.map(nameOf);
}

export async function createAll({ client }: ScenarioContext, objects: readonly KubernetesObject[]): Promise<void> {
  await Promise.all(objects.map((object) => client.create(object)));
}

/** `namespace/name`. */
export function nameOf({ metadata: { namespace = '', name = '' } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}
