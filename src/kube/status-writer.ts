import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, ObjectMeta } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { requestBody } from './request-body.ts';

/**
 * Writes the whole status if it differs from the status that was read, and only to the version that
 * was read. A newer version causes a Conflict (409), and the reconcile of that version writes the
 * status. Returns the stored object, or undefined if nothing was written.
 */
export async function writeStatus<T extends KubernetesObject>(
  client: Pick<ApiClient, 'apply'>,
  object: T,
  status: unknown,
  options: { fieldManager: string; signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  // Compares the forms that are stored: an absent field equals an undefined one.
  const desired: unknown = JSON.parse(requestBody(status));
  if (isDeepStrictEqual(desired, object.status ?? {})) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, resourceVersion } = metadata;
  const body = { apiVersion, kind, metadata: { name, namespace, resourceVersion } as ObjectMeta, status: desired };
  return (await client.apply(body, { ...options, force: true, subresource: 'status' })) as unknown as T;
}
