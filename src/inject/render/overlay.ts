import { sortedKeys } from '../../template/go-string.ts';
import { PodTypeError } from '../kubernetes/pod-type-error.ts';
import { podType } from '../kubernetes/pod-schema.ts';
import { normalisePod, type CanonicalItems } from '../kubernetes/typed-pod.ts';
import { StrategicMergeError } from '../merge/merge-error.ts';
import { strategicMerge } from '../merge/strategic-merge.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Pod } from '../pod/pod.ts';

/** An error in merging a part of a pod. */
export class OverlayError extends Error {
  override readonly name = 'OverlayError';
  /** What Go's message omits; see `PodTypeError`. */
  readonly detail: string;

  constructor(message: string, options: ErrorOptions, detail = '') {
    super(message, options);
    this.detail = detail;
  }
}

/**
 * Merges a part onto a pod and decodes the result as Go does.
 * @param items a cache for a part that is merged more than once (see `normalisePod`)
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
    if (error instanceof PodTypeError) {
      const { message, detail } = firstMistake(merged, error);
      throw new OverlayError(`unmarshal patched pod: ${message}`, { cause: error }, detail);
    }
    throw error;
  }
}

/** Returns the first error in Go's order: Go decodes maps in the order of their sorted keys. */
function firstMistake(pod: JsonObject, found: PodTypeError): PodTypeError {
  try {
    normalisePod(sorted(pod));
    return found;
  } catch (error) {
    return error instanceof PodTypeError ? error : found;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(sortedKeys(value).map((name) => [name, sorted(value[name])]));
}

/** Go's empty pod, with null containers. Templates are merged onto it to find what they add. */
export const emptyPod = normalisePod({}) as Pod;
