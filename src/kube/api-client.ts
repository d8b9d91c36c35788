import type { IncomingMessage } from 'node:http';
import type { KubeConfig } from '@kubernetes/client-node';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { ignoreNotFound } from './api-error.ts';
import { apiVersionOf, resourceKind, resourcePath, type ResourceKind } from './resource-kinds.ts';
import { requestBody } from './request-body.ts';
import { brokenStream, jsonLines, parseJson, readBody, statusError } from './response.ts';
import { Transport, type TransportRequest } from './transport.ts';

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

/**
 * A client of one API server. Each request names a resource kind or an object. Never retries.
 * Rejects with an {@link ApiError}, or with the signal's reason after an abort.
 */
export class ApiClient {
  readonly #transport: Transport;
  readonly #timeoutMs: number;

  constructor(kubeConfig: KubeConfig, options: ApiClientOptions = {}) {
    this.#transport = new Transport(kubeConfig, options.userAgent ?? 'sidecar-injector');
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  /** The API server's URL, for messages. */
  get server(): string {
    return this.#transport.server.href.replace(/\/$/, '');
  }

  /** Reads one object. @throws ApiError with code 404 when it does not exist */
  async get<T = KubernetesObject>(resource: ResourceKind, name: string, options: ReadOptions = {}): Promise<T> {
    const { namespace, ...rest } = options;
    return (await this.request('GET', resourcePath(resource, { namespace, name }), rest)) as T;
  }

  /** Reads one object; returns undefined when it does not exist. */
  async find<T = KubernetesObject>(
    resource: ResourceKind,
    name: string,
    options: ReadOptions = {},
  ): Promise<T | undefined> {
    return await this.get<T>(resource, name, options).catch(ignoreNotFound);
  }

  async list<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    const { signal, timeoutMs, namespace, ...query } = options;
    const answer = (await this.request('GET', resourcePath(resource, { namespace }), { signal, timeoutMs, query })) as {
      items?: T[] | null;
      metadata?: { resourceVersion?: string; continue?: string };
    };
    const more = answer.metadata?.continue;
    const items = answer.items ?? [];
    // The API server sets apiVersion and kind only on items that are custom resources.
    for (const item of items as Partial<KubernetesObject>[]) {
      item.apiVersion ??= apiVersionOf(resource);
      item.kind ??= resource.kind;
    }
    return {
      items,
      resourceVersion: answer.metadata?.resourceVersion ?? '',
      continue: more === undefined || more === '' ? undefined : more,
    };
  }

  /** Reads a whole collection at one resourceVersion, by default in pages of 500 objects. */
  async listAll<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    const items: T[] = [];
    let page: ListPage<T>;
    let token: string | undefined;
    do {
      page = await this.list<T>(resource, { limit: 500, ...options, continue: token });
      items.push(...page.items);
      token = page.continue;
    } while (token !== undefined);
    return { items, resourceVersion: page.resourceVersion, continue: undefined };
  }

  /**
   * Watches a collection from a resourceVersion, with bookmarks, until the server ends the stream.
   * @throws ApiError for an ERROR event (code 410 when the resourceVersion is too old)
   */
  async *watch<T = KubernetesObject>(
    resource: ResourceKind,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const { signal, timeoutMs, namespace, onOpen, ...query } = options;
    const path = withQuery(resourcePath(resource, { namespace }), { ...query, watch: true, allowWatchBookmarks: true });
    const response = await this.#open({ method: 'GET', path, signal, timeoutMs: timeoutMs ?? this.#timeoutMs });
    try {
      onOpen?.();
      for await (const line of jsonLines(response)) {
        const event = line as WatchEvent<T> | { type: 'ERROR'; object: unknown };
        if (event.type === 'ERROR') throw statusError(event.object, `watch of ${resource.plural}`);
        yield event;
      }
    } catch (error) {
      throw brokenStream(error, this.#transport.server.host, signal);
    } finally {
      response.destroy();
    }
  }

  /** Creates an object and returns the stored object. */
  async create<T extends ObjectKey>(object: T, options: WriteOptions = {}): Promise<T> {
    const { apiVersion, kind, metadata } = object;
    const path = resourcePath(resourceKind(apiVersion, kind), { namespace: metadata.namespace });
    return this.#write('POST', path, object, options);
  }

  /** Replaces an object. An outdated metadata.resourceVersion causes a Conflict. */
  async replace<T extends ObjectKey>(object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write('PUT', pathOf(object), object, options);
  }

  /**
   * Applies an object server-side: creates it or sets the given fields. Unless `force` is set, a
   * field that another manager owns causes a Conflict; its causes name the manager and the field.
   */
  async apply<T extends ObjectKey>(object: T, options: ApplyOptions): Promise<T> {
    return this.#write('PATCH', pathOf(object, options.subresource), object, options, 'application/apply-patch+yaml');
  }

  async patch<T = KubernetesObject>(
    target: ObjectKey,
    type: 'merge' | 'json',
    body: unknown,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write('PATCH', pathOf(target, options.subresource), body, options, `application/${type}-patch+json`);
  }

  /** Deletes one object. @throws ApiError with code 404 when it does not exist */
  async delete(target: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, signal, timeoutMs, gracePeriodSeconds, propagationPolicy = 'Background' } = options;
    const body = requestBody({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy,
      gracePeriodSeconds,
      ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
    });
    await this.request('DELETE', pathOf(target), { signal, timeoutMs, body });
  }

  /** Sends a request and returns the parsed JSON of the response, or its text if it is not JSON. */
  async request(
    method: TransportRequest['method'],
    path: string,
    options: RequestOptions & { query?: Record<string, unknown>; body?: string; contentType?: string | undefined } = {},
  ): Promise<unknown> {
    const { timeoutMs = this.#timeoutMs, query = {}, ...rest } = options;
    const response = await this.#open({ ...rest, method, path: withQuery(path, query), timeoutMs });
    const text = await readBody(response, this.#transport.server.host, timeoutMs, rest.signal);
    const json = response.headers['content-type']?.startsWith('application/json') === true;
    return json ? parseJson(text, this.#transport.server.host) : text;
  }

  close(): void {
    this.#transport.close();
  }

  async #open(request: TransportRequest): Promise<IncomingMessage> {
    const response = await this.#transport.send(request);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const text = await readBody(response, this.#transport.server.host, request.timeoutMs, request.signal);
    const path = request.path.split('?', 1)[0] ?? '';
    throw statusError(parseOrText(text), `${request.method} ${path}`, status, response.headers['retry-after']);
  }

  async #write<T>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    object: unknown,
    options: WriteOptions & Pick<ApplyOptions, 'force'>,
    contentType?: string,
  ): Promise<T> {
    const { signal, timeoutMs, fieldManager, dryRun, force } = options;
    const query = { fieldManager, dryRun: dryRun && 'All', force };
    const body = requestBody(object);
    return (await this.request(method, path, { signal, timeoutMs, query, body, contentType })) as T;
  }
}

/** @throws Error when the table of kinds lacks the kind, or the object has no name */
function pathOf({ apiVersion, kind, metadata: { name, namespace } }: ObjectKey, subresource?: string): string {
  if (name === undefined) throw new Error(`${kind}: metadata.name is missing`);
  const resource = resourceKind(apiVersion, kind);
  return resourcePath(resource, { name, namespace: resource.namespaced ? namespace : undefined, subresource });
}

function withQuery(path: string, query: Record<string, unknown>): string {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  if (present.length === 0) return path;
  return `${path}?${new URLSearchParams(present.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
