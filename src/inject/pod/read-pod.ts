import { InjectionFailure } from '../injection-failure.ts';
import { PodTypeError } from '../kubernetes/pod-type-error.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { isJsonObject } from '../patch/json-value.ts';
import type { Pod } from './pod.ts';
import { without } from './without.ts';

/**
 * Parses a pod for the engine: checks types, adds a namespace, removes managedFields (often large).
 * @throws InjectionFailure if a field has the wrong type
 */
export function readPod(raw: unknown, namespace: string): Pod {
  try {
    return normalisePod(inNamespace(raw, namespace)) as Pod;
  } catch (error) {
    if (error instanceof PodTypeError) throw new InjectionFailure('InvalidPod', error.message, { cause: error });
    throw error;
  }
}

function inNamespace(raw: unknown, namespace: string): unknown {
  // The parser will report the error.
  if (!isJsonObject(raw)) return raw;
  const metadata = raw.metadata ?? {};
  if (!isJsonObject(metadata)) return raw;
  const own = Object.hasOwn(metadata, 'namespace') ? metadata.namespace : '';
  const named = own === '' || own === null ? { ...metadata, namespace } : metadata;
  const slim = Object.hasOwn(named, 'managedFields') ? without(named, 'managedFields') : named;
  return slim === raw.metadata ? raw : { ...raw, metadata: slim };
}
