import type { JsonPatchOperation } from '../inject/patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';

/** On each injected pod: which configuration it got, as `N.<hash8>`; how stale pods are found. */
export const configurationAnnotation = 'sidecar-injector.io/config';

const annotationPointer = `/metadata/annotations/${configurationAnnotation.replaceAll('/', '~1')}`;

/** What, after the engine's patch, still has to change so that the pod names its configuration; nothing when it already does. */
export function annotateConfiguration(pod: JsonObject, value: string): JsonPatchOperation[] {
  if (!isJsonObject(pod.metadata)) {
    return [{ op: 'add', path: '/metadata', value: { annotations: { [configurationAnnotation]: value } } }];
  }
  const { annotations } = pod.metadata;
  if (!isJsonObject(annotations))
    return [{ op: 'add', path: '/metadata/annotations', value: { [configurationAnnotation]: value } }];
  if (annotations[configurationAnnotation] === value) return [];
  return [{ op: 'add', path: annotationPointer, value }];
}
