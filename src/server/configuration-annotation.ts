import { injectedByAnnotation } from '../api/labels.ts';
import type { JsonPatchOperation } from '../inject/patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';

const annotationPointer = `/metadata/annotations/${injectedByAnnotation.replaceAll('/', '~1')}`;

/** What, after the engine's patch, still has to change so that the pod names its configuration; nothing when it already does. */
export function annotateConfiguration(pod: JsonObject, value: string): JsonPatchOperation[] {
  if (!isJsonObject(pod.metadata)) {
    return [{ op: 'add', path: '/metadata', value: { annotations: { [injectedByAnnotation]: value } } }];
  }
  const { annotations } = pod.metadata;
  if (!isJsonObject(annotations))
    return [{ op: 'add', path: '/metadata/annotations', value: { [injectedByAnnotation]: value } }];
  if (annotations[injectedByAnnotation] === value) return [];
  return [{ op: 'add', path: annotationPointer, value }];
}
