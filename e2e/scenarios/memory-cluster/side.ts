import type { KubernetesObject, ObjectMeta } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { Json, Operation, Subject } from './operations.ts';

/** A mistake of the cluster in memory, which the comparison must find. */
export interface Mistake {
  operation?: (operation: Operation) => Operation;
  generationOf?: (metadata: ObjectMeta) => number;
  isSent?: (type: string) => boolean;
}

const keyOf = ({ manager, operation, subresource }: Json) => [manager, operation, subresource].join();
const name = 'subject';
const selections = [{}, { labelSelector: 'a=1' }, { fieldSelector: `metadata.name=${name}` }];

export type Side = Awaited<ReturnType<typeof openSide>>;

/** Watches a kind on one of the two API servers, and sends requests that write one object. */
export async function openSide(client: ApiClient, subject: Subject, namespace: string, mistake: Mistake = {}) {
  const { apiVersion, kind, ignored = [] } = subject;
  const resource = resourceKind(apiVersion, kind);
  const scope: { namespace?: string } = resource.namespaced ? { namespace } : {};
  const ending = new AbortController();
  const uids: string[] = [];
  let older: string | undefined;
  let live: KubernetesObject | undefined;

  const dropped = new Set(['time', 'creationTimestamp', 'deletionGracePeriodSeconds', 'resourceVersion', ...ignored]);
  /** Drops times, versions and what the API server sets, and numbers the uids that it sets. */
  const comparable = (object: unknown): Json =>
    JSON.parse(JSON.stringify(object), (key, value: unknown) => {
      if (dropped.has(key.replace(/^f:/, ''))) return undefined;
      if (key === 'generation') return mistake.generationOf?.((object as KubernetesObject).metadata) ?? value;
      if (key === 'managedFields') return (value as Json[]).sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
      if (key === 'deletionTimestamp') return 'set';
      if (key !== 'uid' || /^u\d$/.test(String(value))) return value;
      if (!uids.includes(String(value))) uids.push(String(value));
      return uids.indexOf(String(value));
    }) as Json;

  const watch = async (selection: object) => {
    const events: Json[] = [];
    const { resourceVersion } = await client.list(resource, { ...scope, ...selection });
    const options = { ...scope, ...selection, resourceVersion, signal: ending.signal };
    const follow = async () => {
      let last = Number(resourceVersion);
      for await (const { type, object } of client.watch(resource, options)) {
        if (type === 'BOOKMARK' || object.metadata.name !== name || mistake.isSent?.(type) === false) continue;
        const version = Number(object.metadata.resourceVersion);
        events.push({ type, isNewer: version > last, object: comparable(object) });
        last = version;
      }
    };
    void follow().catch((error: unknown) => events.push({ type: String(error) }));
    return events;
  };

  return {
    /** The events of each watch, in comparable form. */
    events: await Promise.all(selections.map(watch)),
    live: () => live,
    stop: () => ending.abort(),
    /** Sends a request. Resolves with the answer and the live object, in comparable form. */
    perform: async (given: Operation): Promise<Json> => {
      const { verb, fields, metadata, ...how } = mistake.operation?.(given) ?? given;
      const before = live;
      const resourceVersion = { none: undefined, current: before?.metadata.resourceVersion, old: older }[how.version];
      const uid = { none: undefined, current: before?.metadata.uid, wrong: 'wrong' }[how.uid];
      const identity = { ...(resourceVersion && { resourceVersion }), ...(uid && { uid }) };
      const body = { apiVersion, kind, ...fields, metadata: { name, ...scope, ...metadata, ...identity } };
      const requests: Record<Operation['verb'], () => Promise<unknown>> = {
        create: () => client.create(body, how),
        apply: () => client.apply(body, how),
        status: () => client.apply(body, { ...how, subresource: 'status' }),
        replace: () => client.replace({ ...before, ...body, metadata: { ...before?.metadata, ...body.metadata } }, how),
        patch: () => client.patch(body, 'merge', body, how),
        delete: () => client.delete(body, { uid, resourceVersion }),
      };
      const isShown = verb !== 'delete' && !how.dryRun;
      const answer = await requests[verb]().then((object) => (isShown ? comparable(object) : {}), comparableError);
      live = await client.find(resource, name, scope);
      const isWritten = live?.metadata.resourceVersion !== before?.metadata.resourceVersion;
      if (isWritten) older = before?.metadata.resourceVersion;
      return { answer, isWritten, live: live && comparable(live) };
    },
  };
}

/** Returns what the operator reads from an error, without the times in conflicts. */
export function comparableError(error: unknown): Json {
  if (!(error instanceof ApiError)) throw error;
  const causes = error.causes.map((cause) => JSON.stringify(cause).replace(/ at \d{4}-[\dTZ:-]+"/, '"'));
  return { code: error.code, reason: error.reason, causes: [...new Set(causes)].sort() };
}
