import { forceDeleteAnnotation, isDeletionForced } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';

/** So many names of each kind are told; the status has more. */
const toldNames = 10;

/**
 * Why an InjectorConfig or RevisionTag must not be deleted now: who uses it, and what to do; undefined when it may be. What its status says is at most
 * half a minute old.
 * @param tags the RevisionTags that lead to it
 */
export function inUseRefusal(object: KubernetesObject, tags: readonly string[]): string | undefined {
  if (isDeletionForced(object) || object.metadata.deletionTimestamp !== undefined) return undefined;
  const { namespaces, pods } = (object.status ?? {}) as UsageStatus;
  const users = [
    ...told(tags.length, tags, 'RevisionTag leads to it', 'RevisionTags lead to it'),
    ...told(namespaces?.count, namespaces?.names, 'namespace leads to it', 'namespaces lead to it'),
    ...told(pods?.count, pods?.names, 'pod was injected by it or would be', 'pods were injected by it or would be'),
  ];
  if (users.length === 0) return undefined;
  const named = `${object.kind} ${object.metadata.name ?? ''}`;
  const isByPods = (pods?.count ?? 0) > 0;
  // An author can make any pod look as if it was injected: whoever deletes has to know that this alone may hold it up.
  const hint = isByPods ? '; pods count by their labels and annotations, which their authors write' : '';
  const advice = `move the labels and tags elsewhere and restart the pods, and it can be deleted within 30 s; or set the annotation ${forceDeleteAnnotation}: "true" on it`;
  return `${named} is in use: ${users.join('; ')}${hint}; ${advice}`;
}

function told(count = 0, names: readonly string[] = [], one: string, many: string): string[] {
  if (count === 0) return [];
  const shown = names.slice(0, toldNames);
  const more = count > shown.length && shown.length > 0 ? ` and ${count - shown.length} more` : '';
  return [`${count} ${count === 1 ? one : many}${shown.length === 0 ? '' : ` (${shown.join(', ')}${more})`}`];
}
