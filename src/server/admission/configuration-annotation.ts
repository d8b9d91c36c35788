import { injectedByAnnotation } from '../../api/names.ts';
import { updateAnnotation } from '../../api/revision-tag/update-annotation.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';

/** An entry `<InjectorConfig>.<hash8>`; names of InjectorConfigs are DNS-1123 labels. */
const entryPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[0-9a-f]{8}$/;
const pointerTo = (annotation: string): string => `/metadata/annotations/${annotation.replaceAll('/', '~1')}`;

/**
 * Returns operations that add the configuration to the pod's annotation, a list with an entry for
 * each InjectorConfig that injected the pod: `proxy.0a1b2c3d,logs.4e5f6a7b`. The result is empty if
 * the annotation already contains the configuration. A new pod has no record of an update in place:
 * an author who writes one would choose the images that the operator restores.
 * @param pod the pod after the engine's patch
 * @param name the InjectorConfig
 */
export function annotateConfiguration(pod: JsonObject, name: string, hash: string): JsonPatchOperation[] {
  const entry = `${name}.${hash}`;
  if (!isJsonObject(pod.metadata))
    return [{ op: 'add', path: '/metadata', value: { annotations: { [injectedByAnnotation]: entry } } }];
  const { annotations } = pod.metadata;
  if (!isJsonObject(annotations))
    return [{ op: 'add', path: '/metadata/annotations', value: { [injectedByAnnotation]: entry } }];
  const before = annotations[injectedByAnnotation];
  const value = typeof before === 'string' ? withEntry(before, name, entry) : entry;
  const isForged = annotations[updateAnnotation] !== undefined;
  return [
    ...(isForged ? [{ op: 'remove' as const, path: pointerTo(updateAnnotation) }] : []),
    ...(value === before ? [] : [{ op: 'add' as const, path: pointerTo(injectedByAnnotation), value }]),
  ];
}

/** Replaces or appends an entry. Drops malformed entries, because authors can edit the list. */
function withEntry(list: string, name: string, entry: string): string {
  const entries = list.split(',').filter((each) => entryPattern.test(each));
  const index = entries.findIndex((each) => each.startsWith(`${name}.`));
  if (index === -1) return [...entries, entry].join(',');
  return entries.with(index, entry).join(',');
}
