import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { WebhookTarget } from '../../explain/pod-webhook.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { pods } from '../../operator/cluster-view.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { barePodOf, differences, type InjectorFacts, isByOurs, hasStatus } from './compare-injectors.ts';
import { newestPods } from './newest-pods.ts';
import { inParallel } from './in-parallel.ts';

/** A new pod of a workload, and what the API server makes of it before a move. */
export interface SamplePod {
  readonly workload: string;
  readonly pod: KubernetesObject;
  readonly before: JsonObject;
  /** The target of our webhook that selects the pod. */
  readonly ours: WebhookTarget | undefined;
}

/**
 * Dry-runs a new pod of each workload of a namespace. Returns those that are injected, or a pod of
 * the simplest kind if the namespace has none.
 */
export async function samplePods(client: ApiClient, facts: InjectorFacts, namespace: string): Promise<SamplePod[]> {
  const samples: SamplePod[] = [];
  const add = async (stored: KubernetesObject, workload: { kind: string; name: string }): Promise<void> => {
    const bare = barePodOf(stored, { namespace, ...workload }, facts);
    if (bare === undefined) return;
    const pod = bare.pod as unknown as KubernetesObject;
    const before = await facts.create(pod);
    const name = `${workload.kind.toLowerCase()}/${workload.name}`;
    if (hasStatus(before)) samples.push({ workload: name, pod, before, ours: bare.ours });
  };
  await inParallel(await newestPods(client, namespace, () => undefined), async ({ kind, name, pod }) => {
    const stored = await client.find(pods, pod, { namespace });
    if (stored !== undefined) await add(stored, { kind, name });
  });
  if (samples.length === 0) await add(probePod(namespace), { kind: 'Pod', name: 'adopt-probe' });
  return samples;
}

function probePod(namespace: string): KubernetesObject {
  const metadata = { name: 'adopt-probe', namespace, labels: { [istioKeys.inject]: 'true' } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
}

/** How often to ask the API server, in milliseconds. */
const interval = 200;

/**
 * Dry-runs the pods again until each has another injector than before. Returns undefined, or why
 * the pods should rather keep their injector: the first pod that is bare, different or refused.
 * @param seconds how long to wait
 */
export async function untilAnsweredBy(
  injector: 'ours' | 'Istio',
  samples: readonly SamplePod[],
  { create }: Pick<InjectorFacts, 'create'>,
  seconds: number,
): Promise<string | undefined> {
  const end = performance.now() + seconds * 1000;
  let problem: string | undefined;
  await inParallel(samples, async ({ workload, pod, before }) => {
    while (problem === undefined) {
      const answer = await create(pod).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        return error;
      });
      if (answer instanceof ApiError) problem = `new pods of ${workload} are refused: ${answer.message}`;
      else if (!hasStatus(answer)) problem = `new pods of ${workload} would start without a sidecar`;
      else if (isByOurs(answer) === (injector === 'ours')) {
        const [first] = differences(before, answer);
        if (first !== undefined) problem = `new pods of ${workload} would differ: ${first.path}`;
        return;
      } else if (performance.now() > end)
        problem = `the other injector still answers for ${workload} after ${seconds} s`;
      else await sleep(interval);
    }
  });
  return problem;
}
