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
  /** A namespace without pods and without injection, in which the API server completes the engine's results. */
  scratch: string;
  /** Two namespaces in which the same is created: without injection, and with it. */
  plain: string;
  mesh: string;
}

/** The same pod without and with injection. */
export type Twins = [twin: Pod, pod: Pod];

/** Where an injected pod first differs from what the engine makes of its twin's request; empty when it does not. */
export async function difference(client: ApiClient, around: Surroundings, [twin, pod]: Twins): Promise<string> {
  return firstDifference(comparable(pod), await expectedPod(client, around, twin, pod));
}

/**
 * What the API server would store if the engine alone had injected the pod: the twin's request (the same workload's pod, stored in a namespace
 * without injection, under the identity of the injected one) goes through the engine here, and through the API server's defaults and
 * plugins by a dry run.
 */
async function expectedPod(client: ApiClient, around: Surroundings, twin: Pod, injected: Pod): Promise<unknown> {
  const { injector, nodes, proxyConfigs = [], scratch } = around;
  const namespace = injected.metadata.namespace ?? '';
  const request = requestOf(twin, injected);
  const result = inject(injector, { pod: request, namespace, path: '/inject', nodes, proxyConfigs });
  if (result.outcome !== 'injected') throw new Error(`the engine does not inject it: ${result.message}`);
  const pod = result.pod as unknown as KubernetesObject & Pod;
  return comparable(await dryRun(client, { ...pod, metadata: { ...pod.metadata, namespace: scratch } }));
}

/** The pod without what is given to it only when it is stored or after that, and without the name of its configuration. */
function comparable({ metadata, spec }: Pod): unknown {
  const { labels, generateName, ownerReferences } = metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key !== injectedByAnnotation);
  const kept = { labels, generateName, ownerReferences, annotations: Object.fromEntries(annotations) };
  return { ...kept, spec: unscheduled(spec) };
}

/** The pod as it came to the webhook. */
function requestOf(twin: Pod, injected: Pod): JsonObject {
  const { name, generateName, namespace, labels, annotations, ownerReferences } = twin.metadata;
  // A generated name is given after admission; two generated names are never the same.
  const isNamed = name === injected.metadata.name;
  const metadata = { ...(isNamed ? { name } : {}), generateName, namespace, labels, annotations, ownerReferences };
  let text = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: unscheduled(twin.spec) });
  for (const [own, other] of [
    [namespace, injected.metadata.namespace],
    [ownerOf(twin), ownerOf(injected)],
    [tokenVolume(twin), tokenVolume(injected)],
  ]) {
    if (own !== undefined && other !== undefined) text = text.replaceAll(own, other);
  }
  return JSON.parse(text) as JsonObject;
}

/** Which node a pod goes to is decided after admission. */
function unscheduled(spec: Pod['spec']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => key !== 'nodeName'));
}

function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.[0]?.uid;
}

/** The volume that the API server's ServiceAccount plugin adds, under a name of its own. */
function tokenVolume({ spec }: Pod): string | undefined {
  return spec.volumes?.find(({ name }) => name.startsWith('kube-api-access-'))?.name;
}

/** Where two values first differ, as `spec.containers.0.image: "a" instead of "b"`; empty when they are the same. */
function firstDifference(found: unknown, expected: unknown, path = ''): string {
  if (typeof found !== 'object' || found === null || typeof expected !== 'object' || expected === null) {
    const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
    return Object.is(found, expected) ? '' : `${path.slice(1)}: ${show(found)} instead of ${show(expected)}`;
  }
  const keys = new Set([...Object.keys(found), ...Object.keys(expected)]);
  for (const key of keys) {
    const at = (value: object): unknown => (value as Record<string, unknown>)[key];
    const difference = firstDifference(at(found), at(expected), `${path}.${key}`);
    if (difference !== '') return difference;
  }
  return '';
}
