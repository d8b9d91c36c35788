import { sortedKeys } from '../../template/go-string.ts';
import { PodTypeError } from '../kubernetes/pod-type-error.ts';
import { podType } from '../kubernetes/pod-schema.ts';
import { normalisePod, type CanonicalItems } from '../kubernetes/typed-pod.ts';
import { StrategicMergeError } from '../merge/merge-error.ts';
import { strategicMerge } from '../merge/strategic-merge.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Pod } from '../pod/pod.ts';

/** A part of a pod does not fit onto a pod. */
export class OverlayError extends Error {
  override readonly name = 'OverlayError';
}

/**
 * A pod with a part of a pod merged onto it, both read as Go's types.
 * @param items See `normalisePod`: for a part that is merged more than once.
 * @throws OverlayError
 */
export function overlayPod(pod: Pod, part: JsonObject, items?: CanonicalItems): Pod {
  let merged: JsonObject = pod;
  try {
    merged = strategicMerge(pod, part);
    return normalisePod(merged, podType, pod, items) as Pod;
  } catch (error) {
    if (error instanceof StrategicMergeError)
      throw new OverlayError(`strategic merge: ${error.message}`, { cause: error });
    if (error instanceof PodTypeError)
      throw new OverlayError(`unmarshal patched pod: ${firstMistake(merged, error)}`, { cause: error });
    throw error;
  }
}

/** What Go says of a pod with several mistakes: it reads what encoding/json has written of maps, by name. */
function firstMistake(pod: JsonObject, { message }: PodTypeError): string {
  try {
    normalisePod(sorted(pod));
    return message;
  } catch (error) {
    return error instanceof PodTypeError ? error.message : message;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(sortedKeys(value).map((name) => [name, sorted(value[name])]));
}

/** The pod that templates are merged onto first, to learn what they bring: Go's empty pod, whose containers are null. */
export const emptyPod = normalisePod({}) as Pod;
