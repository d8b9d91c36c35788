import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { failure, FakeApiServer, json, type FakeRequest } from '../../kube/testdata/fake-api-server.ts';
import { applyFields, updateFields, type Writer } from './field-managers.ts';
import { podErrors } from './pod-validation.ts';
import { pick, storedKind, storedObject, tidied, withGeneration } from './stored-kinds.ts';

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

type Body = KubernetesObject & { preconditions?: ObjectMeta };
const copyOf = (object: KubernetesObject): KubernetesObject => JSON.parse(JSON.stringify(object)) as KubernetesObject;

/** An answer to matching requests that replaces the answer of the cluster. */
export interface Fault {
  matches: (method: string, path: string, body: string) => boolean;
  answer: (response: ServerResponse) => void;
  /** The number of requests that get this answer; unlimited if absent. */
  times?: number;
}

/**
 * An in-memory API server over HTTP. Supports get, list, watch, create, replace, apply, merge patch
 * and delete as far as the operator needs them. Scenario `memory-cluster` compares it with a real
 * API server. Defaults, schemas and admission are missing.
 */
export class MemoryCluster {
  readonly server: FakeApiServer;
  readonly writes: string[] = [];
  readonly faults: Fault[] = [];
  /** The pods that clients have created as dry runs, in order. */
  readonly dryRunPods: KubernetesObject[] = [];
  /** Changes a pod of a dry run, as another webhook does. */
  changesPod: (pod: KubernetesObject) => void = () => undefined;
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
  #compacted = 0;
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
    const object = this.#objects.get(keyOf(plural, namespace, name));
    return object && copyOf(object);
  }

  names(plural: string): string[] {
    return [...this.#objects.keys()].filter((key) => key.startsWith(`${plural}/`)).map((key) => key.split('/').at(-1) ?? '');
  }

  /** Returns the objects of a list with these selectors. */
  list(plural: string, namespace?: string, selectors: Record<string, string> = {}): KubernetesObject[] {
    const [target, query] = [{ plural, namespace, name: undefined, subresource: undefined }, new URLSearchParams(selectors)];
    return [...this.#objects].filter(([key, object]) => selects(target, query, key, object)).map(([, object]) => object);
  }

  /** Creates or replaces an object, its status included, as another client does. */
  put(plural: string, object: KubernetesObject, manager = 'another-client'): KubernetesObject {
    const { name = '', namespace, managedFields } = object.metadata;
    const before = this.get(plural, name, namespace);
    const kind = storedKind(plural);
    const next = { ...object, metadata: { ...pick(before?.metadata, ['uid', 'creationTimestamp']), ...object.metadata } };
    // A test that sets managedFields decides them.
    const isTracked = managedFields === undefined || isDeepStrictEqual(managedFields, before?.metadata.managedFields);
    const writer: Writer = { manager, operation: 'Update', subresource: undefined };
    return this.#store(plural, withGeneration(kind, before, isTracked ? updateFields(kind, before, next, writer) : next));
  }

  /** Edits an object, as another client does. */
  edit(plural: string, name: string, namespace: string | undefined, change: (object: KubernetesObject) => void, manager?: string): void {
    const object = this.get(plural, name, namespace);
    if (object === undefined) throw new Error(`${plural} ${name} does not exist`);
    change(object);
    this.put(plural, object, manager);
  }

  /** Deletes an object, as another client does. */
  remove(plural: string, name: string, namespace?: string): void {
    this.edit(plural, name, namespace, ({ metadata }) => (metadata.deletionTimestamp ??= '2026-01-01T00:00:00Z'));
  }

  /** Forgets older versions: a watch that starts from one of them fails with 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history.length = 0;
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
    } else if (query.get('watch') === 'true') this.#watch(target, query, response);
    else {
      const selected = [...this.#objects].filter(([key, object]) => selects(target, query, key, object));
      const items = selected.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
      json(response, 200, { metadata: { resourceVersion: String(this.#version) }, items });
    }
  }

  #watch(target: Target, query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const since = Number(query.get('resourceVersion') ?? 0);
    if (since < this.#compacted) {
      const object = { code: 410, reason: 'Expired', message: `too old resource version: ${since} (${this.#compacted})` };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    const watcher = { target, query, response };
    this.#watchers.add(watcher);
    for (const change of this.#history) if (change.version > since) send(watcher, change);
    response.on('close', () => this.#watchers.delete(watcher));
  }

  async #write(request: FakeRequest, target: Target, response: ServerResponse): Promise<void> {
    const { slowness } = this;
    if (slowness !== undefined) await new Promise((resolve) => setTimeout(resolve, slowness()));
    // A patch may omit metadata.
    const body = { metadata: {}, ...JSON.parse(request.body) } as Body;
    if (target.plural === 'selfsubjectaccessreviews') {
      json(response, 201, { ...body, status: { allowed: true } });
      return;
    }
    const { plural, subresource } = target;
    const name = target.name ?? body.metadata.name ?? '';
    const isPodDryRun = plural === 'pods' && request.method === 'POST' && request.query.get('dryRun') === 'All';
    if (isPodDryRun) this.dryRunPods.push(copyOf(body));
    else if (plural !== 'leases' && plural !== 'events') {
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
    try {
      if (isPodDryRun) this.changesPod(body);
      if (isPodDryRun) refuseInvalidPod(body);
      json(response, ...this.#perform(request, { ...target, name }, body));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, reason, message, causes } = error;
      json(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details: { causes } });
    }
  }

  /** Performs a write. Checks, as API server and go-yaml do, in order. Returns code and body. */
  #perform({ method, query, headers, body: text }: FakeRequest, target: Target & { name: string }, body: Body): [number, object] {
    const { plural, namespace, name, subresource } = target;
    const found = this.#objects.get(keyOf(plural, namespace, name));
    const kind = storedKind(plural);
    const refuse = (code: number, reason: string, why: string): never => {
      throw new ApiError({ code, reason, message: `${plural} "${name}" ${why}` });
    };
    const isDryRun = query.get('dryRun') === 'All';
    const isApply = headers['content-type'] === 'application/apply-patch+yaml';
    if (isApply && /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]|(?<!\\)(\\\\)*\\ud[89a-f]/i.test(text)) refuse(400, 'BadRequest', 'is no YAML');
    const mayCreate = subresource === undefined && (method === 'POST' || isApply || (method === 'PUT' && kind.createsOnUpdate));
    const { uid, resourceVersion } = (method === 'DELETE' ? body.preconditions : body.metadata) ?? {};
    const isOther = uid !== undefined && uid !== found?.metadata.uid;
    const isOutdated = (version: string | undefined): boolean => version !== undefined && version !== found?.metadata.resourceVersion;
    if (method === 'POST' && found !== undefined) refuse(409, 'AlreadyExists', 'already exists');
    if (found === undefined && !mayCreate) refuse(404, 'NotFound', 'not found');
    if (isOther && method !== 'POST' && (method !== 'PATCH' || found === undefined)) refuse(409, 'Conflict', 'has another uid');
    if (method === 'DELETE' && found !== undefined) {
      if (isOutdated(resourceVersion)) refuse(409, 'Conflict', 'has another resourceVersion');
      if (!isDryRun) this.remove(plural, name, namespace);
      return [200, { kind: 'Status', apiVersion: 'v1', status: 'Success' }];
    }
    const manager = query.get('fieldManager') ?? headers['user-agent']?.split('/', 1)[0] ?? 'unknown';
    const writer: Writer = { manager, operation: isApply ? 'Apply' : 'Update', subresource };
    const next = isApply
      ? tidied(applyFields(kind, found, body, writer, query.get('force') === 'true'))
      : updateFields(kind, found, tidied(method === 'PATCH' ? mergePatch(found, body) : body), writer);
    if (found !== undefined && isOutdated(next.metadata.resourceVersion)) refuse(409, 'Conflict', 'has been modified');
    const object = storedObject(kind, found, next, subresource);
    return [found === undefined ? 201 : 200, isDryRun ? object : this.#store(plural, object)];
  }

  #store(plural: string, written: KubernetesObject): KubernetesObject {
    const object = copyOf(written);
    const { name = '', namespace, deletionTimestamp, finalizers = [] } = object.metadata;
    const key = keyOf(plural, namespace, name);
    const before = this.#objects.get(key);
    const unversioned = (each: KubernetesObject): object => ({ ...each, metadata: { ...each.metadata, resourceVersion: '' } });
    const isGone = deletionTimestamp !== undefined && finalizers.length === 0;
    // The API server first marks a pod, and then deletes it.
    const isDeleted = isGone && (plural !== 'pods' || before?.metadata.deletionTimestamp !== undefined);
    if (before !== undefined && !isDeleted && isDeepStrictEqual(unversioned(before), unversioned(object))) return copyOf(before);
    object.metadata.uid ??= `uid-${this.#version}`;
    object.metadata.creationTimestamp ??= new Date(Date.UTC(2026, 0, 1) + this.#version * 1000).toISOString();
    this.#version += 1;
    object.metadata.resourceVersion = String(this.#version);
    if (isDeleted) this.#objects.delete(key);
    else this.#objects.set(key, object);
    this.#notify({ version: this.#version, key, object, before, isDeleted });
    if (isGone && !isDeleted) this.#store(plural, object);
    return copyOf(object);
  }

  #notify(change: Change): void {
    this.#history.push(change);
    for (const watcher of this.#watchers) send(watcher, change);
    this.changed();
  }
}

/** @throws ApiError 422 with the fields of an invalid pod */
function refuseInvalidPod(pod: KubernetesObject): void {
  const causes = podErrors(pod);
  if (causes.length === 0) return;
  const list = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  const { name = `${String(pod.metadata.generateName)}x7k2p` } = pod.metadata;
  throw new ApiError({ code: 422, reason: 'Invalid', message: `Pod "${name}" is invalid: ${list}`, causes });
}

/** Sends a change to a watcher: as a deletion if the object no longer matches the selectors. */
function send({ target, query, response }: Watcher, { version, key, object, before, isDeleted }: Change): void {
  const matched = before !== undefined && selects(target, query, key, before);
  const matches = !isDeleted && selects(target, query, key, object);
  const type = matches ? (matched ? 'MODIFIED' : 'ADDED') : matched ? 'DELETED' : undefined;
  if (type === undefined) return;
  // As the API server does, send the last state that matched, with the new resourceVersion.
  const shown = type === 'DELETED' && before !== undefined ? before : object;
  const metadata = { ...shown.metadata, resourceVersion: String(version) };
  response.write(`${JSON.stringify({ type, object: { ...shown, metadata } })}\n`);
}

/** Applies a JSON merge patch (RFC 7386). */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const before = (typeof target === 'object' ? target : {}) as Record<string, unknown>;
  const changed = Object.entries(patch).map(([key, value]) => [key, value === null ? undefined : mergePatch(before[key], value)] as const);
  const result = { ...before, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined));
}

export function parsePath(path: string): Target {
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
