import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { traitsOf } from '../../operator/usage/pod-traits.ts';
import { formatNames, plural } from '../report/write-report.ts';
import {
  type Installation,
  keysOfTag,
  namedByNamespace,
  namedByPod,
  namespacesNaming,
  forEachPod,
} from '../usage/installation.ts';

/** Who would lose an injector with a tag: what names it by labels, injected or not. */
export interface Followers {
  /** Whose labels name it, sorted. */
  readonly namespaces: readonly string[];
  /** How many pods live there that do not opt out. */
  readonly podsThere: number;
  /** `namespace/name` of pods that name it by labels of their own, in namespaces that name nothing. */
  readonly pods: readonly string[];
}

/** Reads who follows a tag, from the live namespaces and pods. */
export async function readFollowers(
  client: Pick<ApiClient, 'list'>,
  installation: Installation,
  tag: RevisionTag,
): Promise<Followers> {
  const { name } = tag.metadata;
  const keys = keysOfTag(installation, tag);
  const relevant = {
    labels: new Set([keys.revision, keys.inject]),
    annotations: new Set<string>(),
    statuses: new Set<string>(),
  };
  const pods: string[] = [];
  let podsThere = 0;
  await forEachPod(client, undefined, (pod) => {
    const traits = traitsOf(pod, relevant);
    const namespace = installation.namespaces.get(pod.metadata.namespace ?? '') ?? {};
    if (traits === undefined || namedByPod(keys, namespace, traits.labels) !== name) return;
    if (namedByNamespace(keys, namespace) === name) podsThere += 1;
    else pods.push(`${traits.namespace}/${pod.metadata.name ?? ''}`);
  });
  return { namespaces: namespacesNaming(installation, keys, name), podsThere, pods: pods.sort() };
}

export function hasFollowers({ namespaces, pods }: Followers): boolean {
  return namespaces.length + pods.length > 0;
}

/** `2 namespaces (a,b) with 12 pods, and 1 pod by its own label (c/x)`. */
export function describeFollowers({ namespaces, podsThere, pods }: Followers): string {
  const parts = [
    namespaces.length > 0 &&
      `${plural(namespaces.length, 'namespace')} (${formatNames(namespaces)}) with ${plural(podsThere, 'pod')}`,
    pods.length > 0 && `${plural(pods.length, 'pod')} by labels of their own (${formatNames(pods)})`,
  ];
  return parts.filter((part) => part !== false).join(', and ');
}
