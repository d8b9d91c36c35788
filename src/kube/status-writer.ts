import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, ObjectMeta } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';

/**
 * Writes the whole status of an object, only when it differs from the one that was read, and only onto that very version of the object: a
 * newer one is a Conflict (409), and its own reconcile will write the status that belongs to it.
 * Returns the object as stored, or undefined when there was nothing to write.
 */
export async function writeStatus<T extends KubernetesObject>(
  client: Pick<ApiClient, 'apply'>,
  object: T,
  status: unknown,
  options: { fieldManager: string; signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  // The comparison is of what JSON keeps: an absent field and an undefined one are the same.
  const wanted: unknown = JSON.parse(JSON.stringify(status));
  if (isDeepStrictEqual(wanted, object.status ?? {})) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, resourceVersion } = metadata;
  // What is undefined is not sent.
  const body = { apiVersion, kind, metadata: { name, namespace, resourceVersion } as ObjectMeta, status: wanted };
  return (await client.apply(body, { ...options, force: true, subresource: 'status' })) as unknown as T;
}
