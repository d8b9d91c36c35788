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

/** A new pod of a workload. */
export interface NewPod {
  readonly workload: string;
  readonly pod: KubernetesObject;
  /** Whether the live pod is injected. */
  readonly isInjected: boolean;
  /** The target of our webhook that selects the pod. */
  readonly ours: WebhookTarget | undefined;
}

/** A new pod, and what the API server makes of it before a move. */
export interface SamplePod extends NewPod {
  readonly before?: JsonObject;
}

/**
 * Returns a new pod of each workload of a namespace that the webhooks of an injector select.
 * @param most the number of injected pods that suffice
 */
export async function newPodsIn(
  client: ApiClient,
  facts: InjectorFacts,
  namespace: string,
  most = Infinity,
): Promise<NewPod[]> {
  const found: NewPod[] = [];
  const add = (stored: KubernetesObject, kind: string, name: string): void => {
    const bare = barePodOf(stored, { namespace }, facts);
    if (bare === undefined) return;
    const pod = bare.pod as unknown as KubernetesObject;
    found.push({
      workload: `${kind.toLowerCase()}/${name}`,
      pod,
      isInjected: hasStatus({ ...stored }),
      ours: bare.ours,
    });
  };
  await inParallel(await newestPods(client, namespace, () => undefined), async ({ kind, name, pod }) => {
    if (found.filter(({ isInjected }) => isInjected).length >= most) return;
    const stored = await client.find(pods, pod, { namespace });
    if (stored !== undefined) add(stored, kind, name);
  });
  if (found.length === 0) add(probePod(namespace), 'Pod', 'adopt-probe');
  return found;
}

/** Dry-runs the new pods of a namespace, and returns those that are injected. */
export async function samplePods(client: ApiClient, facts: InjectorFacts, namespace: string): Promise<SamplePod[]> {
  const samples: SamplePod[] = [];
  await inParallel(await newPodsIn(client, facts, namespace), async (each) => {
    const before = await facts.create(each.pod);
    if (hasStatus(before)) samples.push({ ...each, before });
  });
  return samples;
}

/** A pod of the simplest kind, for a namespace without workloads. */
function probePod(namespace: string): KubernetesObject {
  const metadata = { name: 'adopt-probe', namespace, labels: { [istioKeys.inject]: 'true' } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
}

/** The number of dry runs that show which injector answers. */
export const enough = 10;

/** How often to ask the API server, in milliseconds. */
const interval = 200;

/**
 * Dry-runs the pods until an injector answers for each. Returns undefined, or the problem of a pod
 * that is bare, different or refused, or that the other injector still gets after some seconds.
 * @param isPatient whether to wait for pods with a problem: the API server may not use a change yet
 * @param since when the wait began
 */
export async function untilAnsweredBy(
  injector: 'ours' | 'Istio',
  samples: readonly SamplePod[],
  { create }: Pick<InjectorFacts, 'create'>,
  seconds: number,
  isPatient = false,
  since = performance.now(),
): Promise<string | undefined> {
  const end = since + seconds * 1000;
  let problem: string | undefined;
  const ask = async ({ workload, pod, before }: SamplePod): Promise<void> => {
    while (problem === undefined) {
      const answer = await create(pod).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        return error;
      });
      const isDue = !(answer instanceof ApiError) && hasStatus(answer) && isByOurs(answer) === (injector === 'ours');
      const difference = isDue && before !== undefined ? differences(before, answer)[0] : undefined;
      if (isDue && difference === undefined) return;
      const isLate = performance.now() > end;
      if (answer instanceof ApiError) {
        if (isLate || !isPatient) problem = `new pods of ${workload} are refused: ${answer.message}`;
      } else if (!hasStatus(answer)) {
        if (isLate || !isPatient) problem = `new pods of ${workload} would start without a sidecar`;
      } else if (difference !== undefined) problem = `new pods of ${workload} would differ: ${difference.path}`;
      else if (isLate) problem = `the other injector still answers for ${workload} after ${seconds} s`;
      await sleep(interval);
    }
  };
  const [first, ...others] = samples;
  // Until the API server uses the change, questions about one pod suffice.
  if (first !== undefined) await ask(first);
  await inParallel(others, ask);
  return problem;
}
