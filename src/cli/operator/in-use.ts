import { forceDeleteAnnotation, isDeletionForced } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';

/** The maximum number of names that the message lists for each kind. */
const listedNames = 10;

/**
 * Returns why an object must not be deleted now and what to do; undefined when deletion is allowed.
 * The usage in the status is up to 30 s old.
 * @param tags the RevisionTags that point to the object
 */
export function inUseRefusal(object: KubernetesObject, tags: readonly string[]): string | undefined {
  if (isDeletionForced(object) || object.metadata.deletionTimestamp !== undefined) return undefined;
  const { namespaces, pods } = (object.status ?? {}) as UsageStatus;
  const users = [
    ...listed(tags.length, tags, 'RevisionTag points to it', 'RevisionTags point to it'),
    ...listed(namespaces?.count, namespaces?.names, 'namespace selects it', 'namespaces select it'),
    ...listed(pods?.count, pods?.names, 'pod uses it or should use it', 'pods use it or should use it'),
  ];
  if (users.length === 0) return undefined;
  const named = `${object.kind} ${object.metadata.name ?? ''}`;
  const isByPods = (pods?.count ?? 0) > 0;
  // Any author can make a pod look injected, and one such pod is enough to prevent the deletion.
  const hint = isByPods ? '; pods are counted by their labels and annotations, which their authors control' : '';
  const advice = `move the labels and tags to another revision and restart the pods, then delete it after 30 s; or set the annotation ${forceDeleteAnnotation}: "true" on it`;
  return `${named} is in use: ${users.join('; ')}${hint}; ${advice}`;
}

function listed(count = 0, names: readonly string[] = [], one: string, many: string): string[] {
  if (count === 0) return [];
  const shown = names.slice(0, listedNames);
  const more = count > shown.length && shown.length > 0 ? ` and ${count - shown.length} more` : '';
  return [`${count} ${count === 1 ? one : many}${shown.length === 0 ? '' : ` (${shown.join(', ')}${more})`}`];
}
