import type { IncomingMessage } from 'node:http';
import type { KubeConfig } from '@kubernetes/client-node';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { ignoreNotFound } from './api-error.ts';
import { apiVersionOf, resourceKind, resourcePath, type ResourceKind } from './resource-kinds.ts';
import type {
  ApiClientOptions,
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  ObjectKey,
  ReadOptions,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './request-options.ts';
import { brokenStream, jsonLines, parseJson, readBody, statusError } from './response.ts';
import { Transport, type TransportRequest } from './transport.ts';

/**
 * Requests to one API server, by resource (get, list, watch, and patch or delete by name) or by object (create, replace, apply).
 * Every failure is an {@link ApiError}, except an abort, which rejects with the signal's reason. Nothing is retried here.
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

  /** Reads one object; a missing one is an {@link ApiError} with code 404. */
  async get<T = KubernetesObject>(resource: ResourceKind, name: string, options: ReadOptions = {}): Promise<T> {
    const { namespace, ...rest } = options;
    return (await this.request('GET', resourcePath(resource, { namespace, name }), rest)) as T;
  }

  /** Reads one object, undefined when there is none. */
  async find<T = KubernetesObject>(
    resource: ResourceKind,
    name: string,
    options: ReadOptions = {},
  ): Promise<T | undefined> {
    return await this.get<T>(resource, name, options).catch(ignoreNotFound);
  }

  /** Reads one page of a collection. */
  async list<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    const { signal, timeoutMs, namespace, ...query } = options;
    const answer = (await this.request('GET', resourcePath(resource, { namespace }), { signal, timeoutMs, query })) as {
      items?: T[] | null;
      metadata?: { resourceVersion?: string; continue?: string };
    };
    const more = answer.metadata?.continue;
    const items = answer.items ?? [];
    // Items of a list carry neither apiVersion nor kind (except those of custom resources).
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

  /** Reads a whole collection, page by page (500 objects each unless told), as of one resourceVersion. */
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
   * Follows a collection from a resourceVersion on, bookmarks included, until the server ends the stream.
   * An ERROR event becomes an {@link ApiError} (code 410 when the resourceVersion is too old).
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

  /** Creates an object; the answer is what the server stored. */
  async create<T extends ObjectKey>(object: T, options: WriteOptions = {}): Promise<T> {
    const { apiVersion, kind, metadata } = object;
    const path = resourcePath(resourceKind(apiVersion, kind), { namespace: metadata.namespace });
    return this.#write('POST', path, object, options);
  }

  /** Replaces an object; with metadata.resourceVersion only if nobody wrote it since (Conflict otherwise). */
  async replace<T extends ObjectKey>(object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write('PUT', pathOf(object), object, options);
  }

  /**
   * Server-side apply: creates the object or makes the named fields ours.
   * Without `force` a field that another manager holds is a Conflict whose causes name manager and field.
   */
  async apply<T extends ObjectKey>(object: T, options: ApplyOptions): Promise<T> {
    // JSON is YAML.
    return this.#write('PATCH', pathOf(object, options.subresource), object, options, 'application/apply-patch+yaml');
  }

  /** Patches one object. */
  async patch<T = KubernetesObject>(
    target: ObjectKey,
    type: 'merge' | 'json',
    body: unknown,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write('PATCH', pathOf(target, options.subresource), body, options, `application/${type}-patch+json`);
  }

  /** Deletes one object; a missing one is an {@link ApiError} with code 404. */
  async delete(target: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, signal, timeoutMs, gracePeriodSeconds, propagationPolicy = 'Background' } = options;
    const body = JSON.stringify({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy,
      gracePeriodSeconds,
      ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
    });
    await this.request('DELETE', pathOf(target), { signal, timeoutMs, body });
  }

  /** Any request: the JSON of the answer, or its text when it is not JSON; for what the other methods do not cover. */
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

  /** Closes all connections; requests and watches under way fail. */
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
    const body = JSON.stringify(object);
    return (await this.request(method, path, { signal, timeoutMs, query, body, contentType })) as T;
  }
}

/** @throws Error when the kind is not in the table, or the object has no name */
function pathOf({ apiVersion, kind, metadata: { name, namespace } }: ObjectKey, subresource?: string): string {
  if (name === undefined) throw new Error(`${kind}: metadata.name is missing`);
  const resource = resourceKind(apiVersion, kind);
  return resourcePath(resource, { name, namespace: resource.namespaced ? namespace : undefined, subresource });
}

function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
