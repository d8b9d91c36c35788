import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { pods as podKind } from '../../operator/cluster-view.ts';
import { traitsOf } from '../../operator/usage/pod-traits.ts';
import { formatNames, plural } from '../report/write-report.ts';
import {
  type Installation,
  keysOfTag,
  namedByNamespace,
  namedByPod,
  namespacesNaming,
  forEachItem,
} from '../usage/installation.ts';

/** The namespaces and pods that select a tag by labels, injected or not. */
export interface Followers {
  /** The sorted names of the namespaces that have the label. */
  readonly namespaces: readonly string[];
  /** The number of pods in these namespaces that do not opt out. */
  readonly namespacePods: number;
  /** The `namespace/name` of pods that have the label, in namespaces that do not have it. */
  readonly pods: readonly string[];
}

/** Reads the followers of a tag from the live namespaces and pods. */
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
  let namespacePods = 0;
  await forEachItem(client, podKind, {}, (pod) => {
    const traits = traitsOf(pod, relevant);
    const namespace = installation.namespaces.get(pod.metadata.namespace ?? '') ?? {};
    if (traits === undefined || namedByPod(keys, namespace, traits.labels) !== name) return;
    if (namedByNamespace(keys, namespace) === name) namespacePods += 1;
    else pods.push(`${traits.namespace}/${pod.metadata.name ?? ''}`);
  });
  return { namespaces: namespacesNaming(installation, keys, name), namespacePods, pods: pods.sort() };
}

export function hasFollowers({ namespaces, pods }: Followers): boolean {
  return namespaces.length + pods.length > 0;
}

/** Formats `2 namespaces (a,b) with 12 pods by namespace label, and 1 pod by pod label (c/x)`. */
export function describeFollowers({ namespaces, namespacePods, pods }: Followers): string {
  const parts = [
    namespaces.length > 0 &&
      `${plural(namespaces.length, 'namespace')} (${formatNames(namespaces)}) with ${plural(namespacePods, 'pod')} by namespace label`,
    pods.length > 0 && `${plural(pods.length, 'pod')} by pod label (${formatNames(pods)})`,
  ];
  return parts.filter((part) => part !== false).join(', and ');
}
