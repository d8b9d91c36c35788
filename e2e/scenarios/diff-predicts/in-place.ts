import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { WorkloadDiff } from '../../../src/cli/diff/diff-report.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';

interface Container {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly resources?: object;
}

interface Spec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/**
 * Tries as dry runs whether the API server turns a running pod into the predicted pod: a resize,
 * and an update. Returns how the answers contradict `injector diff`.
 */
export async function contradiction(
  client: ApiClient,
  pod: KubernetesObject,
  { needsRestart = [], predicted }: WorkloadDiff,
): Promise<string | undefined> {
  const wanted = asOf(pod, predicted?.after as KubernetesObject);
  const [old, now] = [pod.spec as Spec, wanted.spec as Spec];
  const resized = withContainers(old, (container) => {
    const isFinished = !old.containers.includes(container) && container.restartPolicy !== 'Always';
    const next = [...now.containers, ...(now.initContainers ?? [])].find(({ name }) => name === container.name);
    return isFinished || next === undefined ? container : { ...container, resources: next.resources ?? {} };
  });
  const resources = new Map(
    [...old.containers, ...(old.initContainers ?? [])].map((each) => [each.name, each.resources]),
  );
  const updated = withContainers(now, (container) => ({
    ...container,
    resources: resources.get(container.name) ?? {},
  }));
  const { labels, annotations } = wanted.metadata;
  const refusals = await Promise.all([
    refusal(client, pod, { spec: resized }, 'resize'),
    // The node's name, and what a controller added, are not in the prediction.
    refusal(client, pod, { metadata: { labels, annotations }, spec: { ...old, ...now, ...updated } }),
  ]);
  const [refused] = refusals.filter((each) => each !== undefined);
  const [isPromised, isImpossible] = [
    needsRestart.length === 0,
    needsRestart.some(({ reason }) => /^Kubernetes cannot|^would change/.test(reason)),
  ];
  if (isPromised && refused !== undefined) return `${refused}, although nothing stands in the way of an update`;
  const [first] = needsRestart;
  if (isImpossible && refused === undefined) return `accepted, although ${first?.field}: ${first?.reason}`;
  return undefined;
}

/** Returns the prediction, which was made from the newest pod of the workload, for this pod. */
function asOf({ spec }: KubernetesObject, predicted: KubernetesObject): KubernetesObject {
  const { hostname, affinity } = spec as { readonly hostname?: string; readonly affinity?: object };
  const volume = /kube-api-access-\w{5}/;
  const [own = ''] = volume.exec(JSON.stringify(spec)) ?? [];
  const text = JSON.stringify(predicted).replaceAll(new RegExp(volume, 'g'), own);
  const same = JSON.parse(text) as KubernetesObject;
  return { ...same, spec: { ...(same.spec as object), ...(hostname && { hostname }), ...(affinity && { affinity }) } };
}

function withContainers({ containers, initContainers }: Spec, change: (container: Container) => Container): Spec {
  return { containers: containers.map(change), ...(initContainers && { initContainers: initContainers.map(change) }) };
}

/** Returns the message with which the API server refuses a patch. */
async function refusal(client: ApiClient, pod: KubernetesObject, patch: object, subresource?: string) {
  return await client.patch(pod, 'merge', patch, { dryRun: true, subresource }).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ApiError && error.code >= 400 && error.code < 500) return error.message;
      throw error;
    },
  );
}
