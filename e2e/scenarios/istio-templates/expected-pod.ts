import { firstDifference } from '../../../scripts/conformance/conformance-case.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { injectedByAnnotation } from '../../../src/api/names.ts';
import { inject } from '../../../src/inject/inject.ts';
import type { NodeFacts, ProxyConfigResource } from '../../../src/inject/injection-request.ts';
import type { Injector } from '../../../src/inject/injector.ts';
import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { dryRun } from '../../harness/admissions.ts';
import type { Pod } from '../../harness/pod.ts';

export interface Surroundings {
  injector: Injector;
  nodes: NodeFacts[];
  proxyConfigs?: ProxyConfigResource[];
  /** A namespace without injection, in which a dry run completes the engine's results. */
  scratch: string;
  /** Two namespaces with the same workloads: `plain` without injection, `mesh` with injection. */
  plain: string;
  mesh: string;
}

/** The same pod without and with injection. */
export type PodPair = [plainPod: Pod, pod: Pod];

/** Returns the first difference between an injected pod and the engine's result, or ''. */
export async function difference(client: ApiClient, setting: Surroundings, [plainPod, pod]: PodPair): Promise<string> {
  return firstDifference(comparable(pod), await expectedPod(client, setting, plainPod, pod), '') ?? '';
}

/**
 * Returns the pod that the API server would store if the engine alone had injected it. The request
 * is the plain pod, from the same workload in a namespace without injection, with the identity of
 * the injected pod. The test injects this pod; a dry run then adds the API server's defaults.
 */
async function expectedPod(client: ApiClient, setting: Surroundings, plainPod: Pod, injected: Pod): Promise<unknown> {
  const { injector, nodes, proxyConfigs = [], scratch } = setting;
  const namespace = injected.metadata.namespace ?? '';
  const request = requestOf(plainPod, injected);
  const result = inject(injector, { pod: request, namespace, path: '/inject', nodes, proxyConfigs });
  if (result.outcome !== 'injected') throw new Error(`the engine does not inject the pod: ${result.message}`);
  const pod = result.pod as unknown as KubernetesObject & Pod;
  return comparable(await dryRun(client, { ...pod, metadata: { ...pod.metadata, namespace: scratch } }));
}

/** Returns the pod without fields set after admission and without the injected-by annotation. */
function comparable({ metadata, spec }: Pod): unknown {
  const { labels, generateName, ownerReferences } = metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key !== injectedByAnnotation);
  const kept = { labels, generateName, ownerReferences, annotations: Object.fromEntries(annotations) };
  return { ...kept, spec: unscheduled(spec) };
}

/** Returns the pod as the webhook received it. */
function requestOf(plainPod: Pod, injected: Pod): JsonObject {
  const { name, generateName, namespace, labels, annotations, ownerReferences } = plainPod.metadata;
  // Generated names are assigned after admission and never repeat.
  const isNamed = name === injected.metadata.name;
  const metadata = { ...(isNamed ? { name } : {}), generateName, namespace, labels, annotations, ownerReferences };
  let text = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: unscheduled(plainPod.spec) });
  for (const [own, other] of [
    [namespace, injected.metadata.namespace],
    [ownerOf(plainPod), ownerOf(injected)],
    [tokenVolume(plainPod), tokenVolume(injected)],
  ]) {
    if (own !== undefined && other !== undefined) text = text.replaceAll(own, other);
  }
  return JSON.parse(text) as JsonObject;
}

/** Removes the node, which is chosen after admission. */
function unscheduled(spec: Pod['spec']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => key !== 'nodeName'));
}

function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.[0]?.uid;
}

/** Returns the name of the volume that the API server's ServiceAccount plugin adds. */
function tokenVolume({ spec }: Pod): string | undefined {
  return spec.volumes?.find(({ name }) => name.startsWith('kube-api-access-'))?.name;
}
