import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { createAll, nameOf, workload } from '../../harness/workload-kinds.ts';
import { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';
import type { WorkloadOptions } from '../../harness/workloads.ts';

/** Creates Deployments in a namespace that follows a tag, and observes them. */
export async function startObserved(context: ScenarioContext, tag: string, count: number, options?: WorkloadOptions) {
  const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const objects = Array.from({ length: count }, (_, index) =>
    workload('Deployment', namespace, `work-${index}`, options),
  );
  await createAll(context, objects);
  return { namespace, observer, names: objects.map(nameOf) };
}
