import type { IncomingMessage } from 'node:http';
import type { KubeConfig } from '@kubernetes/client-node';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { ApiError, isNotFound } from './api-error.ts';
import { jsonLines } from './json-lines.ts';
import { apiVersionOf, knownKind, resourcePath, type ResourceKind } from './resource-kinds.ts';
import type {
  ApiClientOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  ObjectKey,
  PatchType,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './request-options.ts';
import { brokenStream, parseJson, readBody, statusError } from './response.ts';
import { Transport, type TransportRequest } from './transport.ts';

const patchTypes: Record<PatchType, string> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/**
 * Requests to one API server, by resource (get, list, watch, and patch or delete by name) or by object (create, replace, apply).
 * Every failure is an {@link ApiError}, except an abort, which rejects with the signal's reason. Nothing is retried here.
 */
export class ApiClient {
  readonly #transport: Transport;
  readonly #timeoutMs: number;
  readonly #discovered = new Map<string, ResourceKind>();

  constructor(kubeConfig: KubeConfig, options: ApiClientOptions = {}) {
    this.#transport = new Transport(kubeConfig, options.userAgent ?? 'sidecar-injector');
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  /** The API server's URL, for messages. */
  get server(): string {
    return this.#transport.server.href.replace(/\/$/, '');
  }

  /** Reads one object; a missing one is an {@link ApiError} with code 404. */
  async get<T = KubernetesObject>(
    resource: ResourceKind,
    name: string,
    options: RequestOptions & { namespace?: string | undefined; subresource?: string | undefined } = {},
  ): Promise<T> {
    return (await this.request('GET', resourcePath(resource, { ...options, name }), options)) as T;
  }

  /** Reads one object, undefined when there is none. */
  async find<T = KubernetesObject>(
    resource: ResourceKind,
    name: string,
    options: RequestOptions & { namespace?: string | undefined } = {},
  ): Promise<T | undefined> {
    try {
      return await this.get<T>(resource, name, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
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
    const resource = await this.kindOf(object, options);
    const target = {
      namespace: object.metadata.namespace,
      name: undefined as string | undefined,
      subresource: options.subresource,
    };
    if (options.subresource !== undefined) target.name = object.metadata.name;
    const body = JSON.stringify(object);
    return (await this.request('POST', resourcePath(resource, target), { ...pick(options), body })) as T;
  }

  /** Replaces an object; with metadata.resourceVersion only if nobody wrote it since (Conflict otherwise). */
  async replace<T extends ObjectKey>(object: T, options: WriteOptions = {}): Promise<T> {
    const path = await this.#pathOf(object, options);
    return (await this.request('PUT', path, { ...pick(options), body: JSON.stringify(object) })) as T;
  }

  /**
   * Server-side apply: creates the object or makes the named fields ours.
   * Without `force` a field that another manager holds is a Conflict whose causes name manager and field.
   */
  async apply<T extends ObjectKey>(
    object: T,
    options: WriteOptions & { fieldManager: string; force?: boolean | undefined },
  ): Promise<T> {
    const path = await this.#pathOf(object, options);
    const { query, ...rest } = pick(options);
    return (await this.request('PATCH', path, {
      ...rest,
      query: { ...query, force: options.force === true ? true : undefined },
      // JSON is YAML.
      body: JSON.stringify(object),
      contentType: 'application/apply-patch+yaml',
    })) as T;
  }

  /** Patches one object. */
  async patch<T = KubernetesObject>(
    target: ObjectKey,
    type: PatchType,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = await this.#pathOf(target, options);
    return (await this.request('PATCH', path, {
      ...pick(options),
      body: JSON.stringify(body),
      contentType: patchTypes[type],
    })) as T;
  }

  /** Deletes one object; a missing one is an {@link ApiError} with code 404. */
  async delete(target: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const path = await this.#pathOf(target, options);
    const { uid, resourceVersion } = options;
    const body = JSON.stringify({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: options.propagationPolicy ?? 'Background',
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
      ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
      ...(options.dryRun === true ? { dryRun: ['All'] } : {}),
    });
    await this.request('DELETE', path, { signal: options.signal, timeoutMs: options.timeoutMs, body });
  }

  /** Where objects of this apiVersion and kind live: the static table, then discovery. */
  async kindOf(object: Pick<ObjectKey, 'apiVersion' | 'kind'>, options: RequestOptions = {}): Promise<ResourceKind> {
    const { apiVersion, kind } = object;
    const key = `${apiVersion}/${kind}`;
    const resource = knownKind(apiVersion, kind) ?? this.#discovered.get(key);
    if (resource !== undefined) return resource;
    await this.#discover(apiVersion, options);
    const found = this.#discovered.get(key);
    if (found === undefined) {
      throw new ApiError({
        code: 404,
        reason: 'NotFound',
        message: `the API server serves no kind ${kind} in ${apiVersion}`,
      });
    }
    return found;
  }

  /** Any request: the JSON of the answer, or its text when it is not JSON; for what the other methods do not cover. */
  async request(
    method: TransportRequest['method'],
    path: string,
    options: RequestOptions & { query?: Record<string, unknown>; body?: string; contentType?: string } = {},
  ): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs;
    const { signal, body, contentType } = options;
    const response = await this.#open({
      method,
      path: withQuery(path, options.query ?? {}),
      signal,
      body,
      contentType,
      timeoutMs,
    });
    const text = await readBody(response, this.#transport.server.host, timeoutMs, signal);
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

  async #pathOf(object: ObjectKey, options: RequestOptions & { subresource?: string | undefined }): Promise<string> {
    const { name, namespace } = object.metadata;
    if (name === undefined) throw new Error(`${object.kind}: metadata.name is missing`);
    const resource = await this.kindOf(object, options);
    return resourcePath(resource, {
      name,
      namespace: resource.namespaced ? namespace : undefined,
      subresource: options.subresource,
    });
  }

  async #discover(apiVersion: string, options: RequestOptions): Promise<void> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const answer = (await this.request('GET', path, { signal: options.signal, timeoutMs: options.timeoutMs })) as {
      resources?: { name: string; kind: string; namespaced: boolean }[];
    };
    const [group, version] = apiVersion.includes('/')
      ? (apiVersion.split('/', 2) as [string, string])
      : ['', apiVersion];
    for (const { name, kind, namespaced } of answer.resources ?? []) {
      if (!name.includes('/'))
        this.#discovered.set(`${apiVersion}/${kind}`, { group, version, plural: name, kind, namespaced });
    }
  }
}

function pick(options: WriteOptions): RequestOptions & { query: Record<string, unknown> } {
  return {
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    query: { fieldManager: options.fieldManager, dryRun: options.dryRun === true ? 'All' : undefined },
  };
}

function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
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
