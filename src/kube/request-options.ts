import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';

export interface ApiClientOptions {
  /** Names the role and replica, so that the audit log tells who wrote what. */
  userAgent?: string;
  /** Milliseconds for one request and its answer (watches: for the answer's headers); 30 s unless told. */
  timeoutMs?: number;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export interface ReadOptions extends RequestOptions {
  namespace?: string | undefined;
}

/** All namespaces when none is named. */
export interface ListOptions extends ReadOptions {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Objects per page. */
  limit?: number | undefined;
  continue?: string | undefined;
  resourceVersion?: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  /** Called when the server has agreed to the watch (status 200), before anything has happened. */
  onOpen?: (() => void) | undefined;
  /** The server ends the stream after this many seconds. */
  timeoutSeconds?: number | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** Of an apply or a patch. */
  subresource?: string | undefined;
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean | undefined;
}

export interface DeleteOptions extends RequestOptions {
  /** Delete only this very object (a Conflict otherwise). */
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  gracePeriodSeconds?: number | undefined;
}

export interface ListPage<T> {
  items: T[];
  /** For a watch that follows the list. */
  resourceVersion: string;
  /** Given when there are more pages. */
  continue: string | undefined;
}

/** metav1.WatchEvent. */
export interface WatchEvent<T = KubernetesObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

/** What names an object: one already read, or its apiVersion, kind, name and namespace. */
export interface ObjectKey {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; namespace?: string };
}
