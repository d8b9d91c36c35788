import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';

export interface ApiClientOptions {
  /** Names the role and the replica, for the audit log. */
  userAgent?: string;
  /** The time limit in milliseconds (default 30 s). For a watch, it covers only the headers. */
  timeoutMs?: number;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export interface ReadOptions extends RequestOptions {
  namespace?: string | undefined;
}

/** The options of a list. If `namespace` is absent, the list covers all namespaces. */
export interface ListOptions extends ReadOptions {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  limit?: number | undefined;
  continue?: string | undefined;
  resourceVersion?: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  /** Called when the server accepts the watch (status 200), before any event. */
  onOpen?: (() => void) | undefined;
  /** The number of seconds after which the server ends the stream. */
  timeoutSeconds?: number | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** The subresource to write, for an apply or a patch. */
  subresource?: string | undefined;
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean | undefined;
}

export interface DeleteOptions extends RequestOptions {
  /** The uid that the object must have. If the object has another uid, the result is a Conflict. */
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  gracePeriodSeconds?: number | undefined;
}

export interface ListPage<T> {
  items: T[];
  /** The resourceVersion for a subsequent watch. */
  resourceVersion: string;
  /** The token for the next page; undefined on the last page. */
  continue: string | undefined;
}

/** metav1.WatchEvent. */
export interface WatchEvent<T = KubernetesObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

/** The identity of an object; callers may also pass a complete object. */
export interface ObjectKey {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; namespace?: string };
}
