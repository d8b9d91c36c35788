import { injectedByAnnotation } from '../../api/names.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';

/** `N.<hash8>`: names of InjectorConfigs are DNS-1123 labels. */
const entryPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[0-9a-f]{8}$/;
const annotationPointer = `/metadata/annotations/${injectedByAnnotation.replaceAll('/', '~1')}`;

/**
 * What, after the engine's patch, still has to change so that the pod names its configuration; nothing when it already does.
 * Families compose, so the annotation is a list: `proxy.0a1b2c3d,logs.4e5f6a7b`, one entry for each InjectorConfig that injected the pod.
 * @param name the InjectorConfig
 * @param hash of the configuration that was used
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
  return value === before ? [] : [{ op: 'add', path: annotationPointer, value }];
}

/** An entry of the same InjectorConfig is replaced where it stands, so that a second pass changes nothing. A pod's author may have written anything: only what looks like an entry is kept. */
function withEntry(list: string, name: string, entry: string): string {
  const entries = list.split(',').filter((each) => entryPattern.test(each));
  const index = entries.findIndex((each) => each.startsWith(`${name}.`));
  if (index === -1) return [...entries, entry].join(',');
  return entries.with(index, entry).join(',');
}
