import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from './scenario-context.ts';
import type { WorkloadKind } from './workload-kinds.ts';

const kinds: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** Restarts every workload of some namespaces at once, as `kubectl rollout restart` does. Returns their names (`namespace/name`). */
export async function restartAllAtOnce({ client }: ScenarioContext, namespaces: readonly string[]): Promise<string[]> {
  const restartedAt = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() };
  const patch = { spec: { template: { metadata: { annotations: restartedAt } } } };
  const names: string[] = [];
  const restarts: Promise<unknown>[] = [];
  for (const namespace of namespaces) {
    for (const kind of kinds) {
      for (const object of (await client.listAll(resourceKind('apps/v1', kind), { namespace })).items) {
        names.push(`${namespace}/${object.metadata.name}`);
        restarts.push(client.patch(object, 'merge', patch));
      }
    }
  }
  await Promise.all(restarts);
  return names;
}
