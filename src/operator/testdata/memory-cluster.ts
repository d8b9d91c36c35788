import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { failure, FakeApiServer, json, type FakeRequest } from '../../kube/testdata/fake-api-server.ts';

interface Target {
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

interface Change {
  version: number;
  key: string;
  object: KubernetesObject;
  before: KubernetesObject | undefined;
  isDeleted: boolean;
}

interface Watcher {
  target: Target;
  query: URLSearchParams;
  response: ServerResponse;
}

/** An answer to matching requests that replaces the answer of the cluster. */
export interface Fault {
  matches: (method: string, path: string, body: string) => boolean;
  answer: (response: ServerResponse) => void;
  /** The number of requests that get this answer; unlimited if absent. */
  times?: number;
}

/**
 * An in-memory API server over HTTP. Supports get, list, watch, create, replace, apply, merge patch
 * and delete as far as the operator needs them. Apply ignores field managers: it replaces top-level
 * fields, but merges workloads. Tests use faults to simulate conflicts.
 */
export class MemoryCluster {
  readonly server: FakeApiServer;
  readonly writes: string[] = [];
  readonly faults: Fault[] = [];
  /** Whether reachability checks and checks of policies succeed. */
  answersProbes = true;
  /** Returns the delay of a write, in milliseconds. */
  slowness: (() => number) | undefined;
  /** Called after each change. */
  changed: () => void = () => undefined;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #watchers = new Set<Watcher>();
  readonly #history: Change[] = [];
  #version = 100;
  client!: ApiClient;

  constructor() {
    this.server = new FakeApiServer((request, response) => {
      this.#answer(request, response);
    });
  }

  async start(): Promise<void> {
    await this.server.start();
    this.client = new ApiClient(this.server.kubeConfig(), { userAgent: 'test' });
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.server.stop();
  }

  /** Returns a copy of a stored object, of any API group. */
  get(plural: string, name: string, namespace?: string): KubernetesObject | undefined {
    return structuredClone(this.#objects.get(keyOf(plural, namespace, name)));
  }

  names(plural: string): string[] {
    return [...this.#objects.keys()].filter((key) => key.startsWith(`${plural}/`)).map((key) => key.split('/').at(-1) ?? '');
  }

  /** Creates or replaces an object, as another client does. */
  put(plural: string, object: KubernetesObject): KubernetesObject {
    return this.#store(plural, structuredClone(object));
  }

  /** Edits an object, as another client does. */
  edit(plural: string, name: string, namespace: string | undefined, change: (object: KubernetesObject) => void): void {
    const object = this.get(plural, name, namespace);
    if (object === undefined) throw new Error(`${plural} ${name} does not exist`);
    change(object);
    this.#store(plural, object);
  }

  /** Deletes an object, as another client does. */
  remove(plural: string, name: string, namespace?: string): void {
    this.edit(plural, name, namespace, ({ metadata }) => (metadata.deletionTimestamp = '2026-01-01T00:00:00Z'));
  }

  /** Answers the next `times` matching requests with an error. */
  fail(matches: Fault['matches'], code: number, reason: string, message: string, times = Infinity): void {
    const answer: Fault['answer'] = (response) => {
      failure(response, code, reason, message);
    };
    this.faults.push({ matches, answer, times });
  }

  /** Ends all watches, as a restart of the API server does. */
  dropWatches(): void {
    for (const { response } of this.#watchers) response.destroy();
    this.#watchers.clear();
  }

  #answer(request: FakeRequest, response: ServerResponse): void {
    const fault = this.faults.find(({ matches }) => matches(request.method, request.path, request.body));
    if (fault !== undefined) {
      if (fault.times !== undefined && (fault.times -= 1) === 0) this.faults.splice(this.faults.indexOf(fault), 1);
      fault.answer(response);
      return;
    }
    const target = parsePath(request.path);
    if (request.method === 'GET') this.#read(request, target, response);
    else void this.#write(request, target, response);
  }

  #read({ query }: FakeRequest, target: Target, response: ServerResponse): void {
    if (target.name !== undefined) {
      const found = this.get(target.plural, target.name, target.namespace);
      if (found === undefined) failure(response, 404, 'NotFound', `${target.plural} "${target.name}" not found`);
      else json(response, 200, found);
    } else if (query.get('watch') === 'true') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      const watcher = { target, query, response };
      this.#watchers.add(watcher);
      const since = Number(query.get('resourceVersion') ?? 0);
      for (const change of this.#history) if (change.version > since) send(watcher, change);
      response.on('close', () => this.#watchers.delete(watcher));
    } else {
      const items = [...this.#objects].filter(([key, object]) => selects(target, query, key, object)).map(([, object]) => object);
      json(response, 200, { metadata: { resourceVersion: String(this.#version) }, items });
    }
  }

  async #write(request: FakeRequest, target: Target, response: ServerResponse): Promise<void> {
    const { slowness } = this;
    if (slowness !== undefined) await new Promise((resolve) => setTimeout(resolve, slowness()));
    // A patch may omit metadata.
    const body = { metadata: {}, ...JSON.parse(request.body) } as KubernetesObject & { preconditions?: { uid?: string } };
    if (target.plural === 'selfsubjectaccessreviews') {
      json(response, 201, { ...body, status: { allowed: true } });
      return;
    }
    const { plural, namespace, subresource } = target;
    const name = target.name ?? body.metadata.name ?? '';
    const found = this.get(plural, name, namespace);
    if (plural !== 'leases' && plural !== 'events') {
      this.writes.push(`${request.method} ${plural}${subresource === undefined ? '' : `/${subresource}`} ${name}`);
    }
    if (request.query.get('dryRun') === 'All' && name.startsWith('sidecar-injector-probe-')) {
      const policy = JSON.stringify(this.get('mutatingadmissionpolicies', name)?.spec ?? {});
      const [, ofPolicy] = /'answer': '([^']*)'/.exec(policy) ?? [];
      if (ofPolicy !== undefined) {
        json(response, 201, { ...body, data: this.answersProbes ? { answer: ofPolicy } : {} });
        return;
      }
      const isLive = this.get('mutatingwebhookconfigurations', name) !== undefined;
      const { nonce } = body.data as Record<string, string>;
      const answer = isLive && this.answersProbes ? { answer: nonce, replica: 'replica-1' } : {};
      json(response, 201, { ...body, data: { nonce, ...answer } });
      return;
    }
    if (request.method === 'DELETE') {
      const uid = body.preconditions?.uid ?? found?.metadata.uid;
      if (found === undefined) failure(response, 404, 'NotFound', 'not found');
      else if (uid !== found.metadata.uid) failure(response, 409, 'Conflict', 'uid');
      else {
        this.remove(plural, name, namespace);
        json(response, 200, {});
      }
      return;
    }
    const expected = body.metadata.resourceVersion;
    if (request.method === 'POST' && found !== undefined) failure(response, 409, 'AlreadyExists', `${name} already exists`);
    else if (expected !== undefined && expected !== found?.metadata.resourceVersion) failure(response, 409, 'Conflict', 'modified');
    else json(response, found === undefined ? 201 : 200, this.#store(plural, merged(request, found, body, subresource)));
  }

  #store(plural: string, object: KubernetesObject): KubernetesObject {
    const { name = '', namespace } = object.metadata;
    const key = keyOf(plural, namespace, name);
    const before = this.#objects.get(key);
    object.metadata.uid ??= `uid-${this.#version}`;
    object.metadata.creationTimestamp ??= new Date(Date.UTC(2026, 0, 1) + this.#version * 1000).toISOString();
    const unversioned = (each: KubernetesObject): object => ({ ...each, metadata: { ...each.metadata, resourceVersion: '' } });
    if (before !== undefined && isDeepStrictEqual(unversioned(before), unversioned(object))) return before;
    if (before !== undefined && !isDeepStrictEqual(before.spec, object.spec)) object.metadata.generation = (before.metadata.generation ?? 1) + 1;
    object.metadata.generation ??= 1;
    this.#version += 1;
    object.metadata.resourceVersion = String(this.#version);
    const isDeleted = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
    if (isDeleted) this.#objects.delete(key);
    else this.#objects.set(key, object);
    // As the API server does, send the last state of a deleted object with a new resourceVersion.
    if (isDeleted && before?.metadata.deletionTimestamp === undefined) delete object.metadata.deletionTimestamp;
    this.#notify({ version: this.#version, key, object, before, isDeleted });
    return structuredClone(object);
  }

  #notify(change: Change): void {
    this.#history.push(structuredClone(change));
    for (const watcher of this.#watchers) send(watcher, change);
    this.changed();
  }
}

/** Sends a change to a watcher: as a deletion if the object no longer matches the selectors. */
function send({ target, query, response }: Watcher, { key, object, before, isDeleted }: Change): void {
  const matched = before !== undefined && selects(target, query, key, before);
  const matches = !isDeleted && selects(target, query, key, object);
  const type = matches ? (matched ? 'MODIFIED' : 'ADDED') : matched ? 'DELETED' : undefined;
  if (type !== undefined) response.write(`${JSON.stringify({ type, object })}\n`);
}

function merged(
  { headers, method }: FakeRequest,
  found: KubernetesObject | undefined,
  body: KubernetesObject,
  subresource: string | undefined,
): KubernetesObject {
  if (found === undefined) return body;
  if (subresource === 'status') return { ...found, status: body.status };
  if (method === 'PUT') return body;
  if (headers['content-type'] === 'application/merge-patch+json') return mergePatch(found, body) as KubernetesObject;
  const isApply = headers['content-type'] === 'application/apply-patch+yaml';
  if (isApply && found.apiVersion === 'apps/v1') return mergePatch(found, body) as KubernetesObject;
  const metadata = { ...found.metadata, ...body.metadata };
  if (isApply) {
    if (body.metadata.labels !== undefined) metadata.labels = { ...found.metadata.labels, ...body.metadata.labels };
    metadata.resourceVersion = found.metadata.resourceVersion!;
  }
  return { ...found, ...body, metadata };
}

/** Applies a JSON merge patch (RFC 7386). */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const before = (typeof target === 'object' ? target : {}) as Record<string, unknown>;
  const changed = Object.entries(patch).map(([key, value]) => [key, value === null ? undefined : mergePatch(before[key], value)] as const);
  const result = { ...before, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined));
}

function parsePath(path: string): Target {
  const segments = path.split('/').slice(1);
  const rest = segments[0] === 'api' ? segments.slice(2) : segments.slice(3);
  const namespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [plural = '', name, subresource] = namespaced ? rest.slice(2) : rest;
  return { plural, namespace: namespaced ? rest[1] : undefined, name, subresource };
}

function keyOf(plural: string, namespace: string | undefined, name: string): string {
  return namespace === undefined ? `${plural}/${name}` : `${plural}/${namespace}/${name}`;
}

function selects(target: Target, query: URLSearchParams, key: string, object: KubernetesObject): boolean {
  const prefix = target.namespace === undefined ? `${target.plural}/` : `${target.plural}/${target.namespace}/`;
  if (!key.startsWith(prefix)) return false;
  const labels = object.metadata.labels ?? {};
  const requirements = (query.get('labelSelector') ?? '').split(',').filter((each) => each !== '');
  const fields = (query.get('fieldSelector') ?? '').split(',').filter((each) => each !== '');
  return (
    requirements.every((each) => {
      const [label = '', value] = each.split('=');
      return value === undefined ? label in labels : labels[label] === value;
    }) &&
    fields.every((each) => {
      const [field = '', value] = each.split('=');
      const found = field.split('.').reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], object);
      return (found ?? '') === value;
    })
  );
}
