import { dnsSubdomainPattern } from '../../api/kubernetes/field-types.ts';
import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { messageOf } from '../../kube/api-error.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import type { Refusal } from '../../rollout/observation.ts';
import { addRefusal, isOver, readRefusal, type RefusalReason, type RefusalTimes } from '../../rollout/refusals.ts';
import { type ConfigurationRef, isSameConfiguration } from '../../routing/route.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { PodTraits } from '../usage/pod-traits.ts';
import type { IsInvalid } from './invalid-pods.ts';

export interface RefusedPodsOptions {
  readonly follow: FollowCollection;
  readonly client: Pick<ApiClient, 'list'>;
  readonly usage: Pick<ClusterUsage, 'traitsOf' | 'judge' | 'selectingWebhook'>;
  readonly isInvalid: IsInvalid;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Pick<Logger, 'debug'>;
}

/** The kinds whose controllers create pods, and write an Event if the API server refuses one. */
const creators: ReadonlyMap<unknown, ResourceKind> = new Map(
  [
    resourceKind('apps/v1', 'ReplicaSet'),
    resourceKind('apps/v1', 'StatefulSet'),
    resourceKind('apps/v1', 'DaemonSet'),
    resourceKind('batch/v1', 'Job'),
  ].map((resource) => [resource.kind, resource]),
);

const eventKind = resourceKind('v1', 'Event');
const fieldSelector = 'reason=FailedCreate,type=Warning';
/** The maximum number of objects per namespace, whose authors can write any number of Events. */
const perNamespace = 20;
/** The maximum length of an object's name, in characters. */
const longestName = 253;
/** The minimum interval between two reads of an object, in milliseconds. */
const readAgainMs = 5000;
/** The maximum size of a pod that is examined, in characters of JSON. */
const maximumPodLength = 65_536;

/** The fields of an Event (core/v1) that are read. */
interface FailedCreate extends KubernetesObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** An object whose pods are refused. */
interface RefusedObject {
  readonly creator: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  reason: RefusalReason;
  times: RefusalTimes;
  /** When the last read began, in milliseconds since 1970. */
  readAt: number;
  isBeingRead: boolean;
  /** What the last read has shown. */
  read?: {
    readonly traits: PodTraits;
    /** The verdicts on an invalid pod, by the configuration that it gets (`N.<hash8>`). */
    readonly verdicts: ReadonlyMap<string, Refusal['verdict']>;
  };
}

/** Passes objects on and stores none. */
class PassingStore extends ObjectStore {
  readonly #pass: (object: KubernetesObject) => void;

  constructor(pass: (object: KubernetesObject) => void) {
    super();
    this.#pass = pass;
  }

  override upsert(object: KubernetesObject): void {
    this.#pass(object);
  }
}

/**
 * Knows which workloads have refused pods, while rollouts or restarts need this. Follows the Events
 * of their controllers. Authors can forge Events, so reads each object that an Event names, and
 * judges the pod of its template. Keeps at most 20 objects per namespace, and none without need.
 */
export class RefusedPods {
  readonly #options: RefusedPodsOptions;
  /** The rollouts and restarts that need the Events. */
  readonly #users = new Set<string>();
  #following: { readonly leading: AbortSignal; readonly stop: AbortController } | undefined;
  /** By namespace, then by `kind/name`. */
  readonly #refused = new Map<string, Map<string, RefusedObject>>();
  /** Resolves when no object waits to be read. Objects are read one after another. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: RefusedPodsOptions) {
    this.#options = options;
  }

  /**
   * Begins to follow Events when a user needs them, and ends when no user does.
   * @param leading aborts when this process stops leading
   */
  follow(user: string, isNeeded: boolean, leading: AbortSignal): void {
    if (isNeeded) this.#users.add(user);
    else this.#users.delete(user);
    if (this.#following !== undefined && (this.#users.size === 0 || this.#following.leading !== leading)) {
      this.#following.stop.abort();
      this.#following = undefined;
      this.#refused.clear();
    }
    if (this.#users.size === 0 || this.#following !== undefined || leading.aborted) return;
    const stop = new AbortController();
    this.#following = { leading, stop };
    const signal = AbortSignal.any([leading, stop.signal]);
    const store = new PassingStore((event) => this.#note(event, signal));
    this.#options.follow({ resource: eventKind, store, keep: (event) => event, fieldSelector, signal });
  }

  /** Returns the refusals of pods that a tag would inject, one for each workload. */
  of(tag: string): Refusal[] {
    const { clock } = this.#options;
    const now = clock.now().getTime();
    const found = new Map<string, Refusal>();
    for (const [namespace, objects] of this.#refused) {
      for (const [key, each] of objects) {
        if (isOver(each.times, now)) objects.delete(key);
        const refusal = objects.has(key) ? this.#refusalFor(tag, each) : undefined;
        const known = refusal && found.get(workloadKey(refusal));
        if (refusal !== undefined && !(known !== undefined && known.at > refusal.at))
          found.set(workloadKey(refusal), refusal);
      }
      if (objects.size === 0) this.#refused.delete(namespace);
    }
    return [...found.values()];
  }

  #refusalFor(tag: string, { creator, namespace, name, reason, times, read }: RefusedObject): Refusal | undefined {
    if (read === undefined) return undefined;
    // `undecided`: only the API server knows whether matchConditions select the pod.
    const webhook = this.#options.usage
      .judge(read.traits)
      .filter(({ state }) => state === 'missing' || state === 'undecided')
      .find(({ selectedBy }) => selectedBy?.tag === tag)?.selectedBy;
    if (webhook?.hash === undefined) return undefined;
    const target = `${webhook.injectorConfig}.${webhook.hash}`;
    const object = `${creator.kind} ${name}`;
    const verdict = reason.isInvalid ? read.verdicts.get(target) : undefined;
    return { namespace, ...read.traits.workload, object, message: reason.message, ...times, target, verdict };
  }

  /** @param signal aborts when Events are no longer needed */
  #note(event: FailedCreate, signal: AbortSignal): void {
    const { involvedObject: { kind, name = '' } = {}, message = '', lastTimestamp, eventTime } = event;
    const { namespace = '', creationTimestamp = '' } = event.metadata;
    const creator = creators.get(kind);
    if (creator === undefined || name.length > longestName || !dnsSubdomainPattern.test(name)) return;
    const reason = readRefusal(message);
    const now = this.#options.clock.now().getTime();
    const at = Math.min(now, Date.parse(lastTimestamp ?? eventTime ?? creationTimestamp));
    if (reason === undefined || Number.isNaN(at)) return;
    const objects = this.#refused.get(namespace) ?? new Map<string, RefusedObject>();
    const key = `${creator.kind}/${name}`;
    const known = objects.get(key);
    if (known === undefined && objects.size >= perNamespace) return;
    const times = addRefusal(known?.times, at);
    const unread = { readAt: -Infinity, isBeingRead: false };
    const refused: RefusedObject = known ?? { creator, namespace, name, reason, times, ...unread };
    // A list returns Events in any order.
    if (at === times.at) refused.reason = reason;
    refused.times = times;
    this.#refused.set(namespace, objects.set(key, refused));
    if (refused.isBeingRead || now - refused.readAt < readAgainMs) return;
    Object.assign(refused, { isBeingRead: true, readAt: now });
    this.#reading = this.#reading.then(() => this.#read(refused, signal));
  }

  /** Reads an object, and examines the pod of its template. Never rejects. */
  async #read(refused: RefusedObject, signal: AbortSignal): Promise<void> {
    const { client, usage, logger } = this.#options;
    const { creator, namespace, name, reason } = refused;
    try {
      signal.throwIfAborted();
      const { items } = await client.list(creator, { namespace, fieldSelector: `metadata.name=${name}`, signal });
      const [object] = items;
      const pod = object && templatePod(object);
      const traits = pod && usage.traitsOf(pod);
      delete refused.read;
      if (pod === undefined || traits === undefined) return;
      const isExamined = reason.isInvalid && JSON.stringify(pod).length <= maximumPodLength;
      const verdicts = new Map<string, Refusal['verdict']>();
      for (const { selectedBy } of isExamined ? usage.judge(traits) : []) {
        const { id, injectorConfig, hash } = selectedBy ?? {};
        if (id === undefined || injectorConfig === undefined || hash === undefined) continue;
        verdicts.set(`${injectorConfig}.${hash}`, await this.#verdictOn(pod, id, { injectorConfig, hash }));
      }
      refused.read = { traits, verdicts };
    } catch (error) {
      const fields = { kind: creator.kind, namespace, name, error: messageOf(error) };
      if (!signal.aborted) logger.debug('cannot examine the refused pods of an object', fields);
    } finally {
      refused.isBeingRead = false;
    }
  }

  /** Compares the result of a configuration with the bare pod and, in a rollout, with stable's. */
  async #verdictOn(pod: KubernetesObject, webhook: string, target: ConfigurationRef): Promise<Refusal['verdict']> {
    const { usage, isInvalid } = this.#options;
    if (await isInvalid(pod)) return 'Own';
    if ((await isInvalid(pod, target)) !== true) return undefined;
    const { injectorConfig = '', hash = '' } = usage.selectingWebhook(webhook) ?? {};
    const stable = { injectorConfig, hash };
    const isOwn = isSameConfiguration(stable, target) ? false : await isInvalid(pod, stable);
    return isOwn === undefined ? undefined : isOwn ? 'Own' : 'Proven';
  }
}

/** Returns the pod that a controller creates from the template of an object. */
function templatePod(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  const { name = '', namespace = '', uid = '' } = metadata;
  const template = ['spec', 'template'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(objectAt(object, [...template, 'metadata']) as ObjectMeta),
      generateName: `${name}-`,
      namespace,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: objectAt(object, [...template, 'spec']),
  };
}
