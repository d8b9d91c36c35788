import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { createAll, nameOf, workload, type WorkloadKind } from '../../harness/workload-kinds.ts';

/** The tag that all of it follows. */
export const tag = 'prod';

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
export async function createFixtures(context: ScenarioContext, namespaces: number, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let index = 0; index < namespaces; index++) {
    names.push(await context.namespace(`fixtures-${index}`, { 'istio.io/rev': tag }));
  }
  const objects = Array.from({ length: count }, (_, index) => {
    const [kind, options] = mixture[index % mixture.length] ?? ['Deployment', {}];
    const namespace = names[index % names.length] ?? '';
    return workload(kind, namespace, `work-${String(index).padStart(3, '0')}`, options);
  });
  await createAll(context, objects);
  return objects.map(nameOf);
}
