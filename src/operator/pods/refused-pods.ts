import { dnsSubdomainPattern } from '../../api/kubernetes/field-types.ts';
import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { messageOf } from '../../kube/api-error.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import type { Refusal } from '../../rollout/observation.ts';
import { FairShares } from '../../rollout/fair-shares.ts';
import { addRefusal, isOver, readRefusal, type RefusalReason, type RefusalTimes } from '../../rollout/refusals.ts';
import { type ConfigurationRef, isSameConfiguration } from '../../routing/route.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { PodTraits } from '../usage/pod-traits.ts';
import type { IsInvalid } from './invalid-pods.ts';
import { lacksPods, podCreators } from './wanted-pods.ts';

export interface RefusedPodsOptions {
  readonly follow: FollowCollection;
  readonly client: Pick<ApiClient, 'list'>;
  readonly usage: Pick<ClusterUsage, 'traitsOf' | 'judge' | 'selectingWebhook'>;
  readonly isInvalid: IsInvalid;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly logger: Pick<Logger, 'debug'>;
}

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
  readonly firstTimestamp?: string | null;
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
  /** When the last read became due, in milliseconds since 1970. */
  readAt: number;
  isDue: boolean;
  /** What the last read has shown: null if nothing is refused, undefined before the first read. */
  read?: ReadObject | null;
}

interface ReadObject {
  /** What the verdicts depend on: UID and generation, and the stable configurations. */
  readonly version: string;
  readonly traits: PodTraits;
  /** The verdicts on an invalid pod, by the configuration that it gets (`N.<hash8>`). */
  readonly verdicts: ReadonlyMap<string, Refusal['verdict']>;
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
  #following:
    | {
        readonly leading: AbortSignal;
        readonly stop: AbortController;
        readonly store: ObjectStore;
        readonly signal: AbortSignal;
      }
    | undefined;
  /** By namespace, then by `kind/name`. */
  readonly #refused = new Map<string, Map<string, RefusedObject>>();
  /** Objects are read one after another; the namespaces take turns. */
  readonly #shares = new FairShares();
  #isReading = false;

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
    const signal = AbortSignal.any([leading, stop.signal]);
    const store = new PassingStore((event) => this.#note(event));
    this.#following = { leading, stop, store, signal };
    this.#options.follow({ resource: eventKind, store, keep: (event) => event, fieldSelector, signal });
  }

  /**
   * Returns the refusals of pods that a tag would inject, one for each workload. Only proven ones
   * before all Events are listed and all objects are read, because the others are compared.
   */
  of(tag: string): Refusal[] {
    const { clock } = this.#options;
    const now = clock.now().getTime();
    const found = new Map<string, Refusal>();
    const isWhole =
      this.#following?.store.hasSynced === true && !this.#objects().some(({ read }) => read === undefined);
    for (const [namespace, objects] of this.#refused) {
      for (const [key, each] of objects) {
        if (isOver(each.times, now)) objects.delete(key);
        const refusal = objects.has(key) ? this.#refusalFor(tag, each) : undefined;
        const known = refusal && found.get(workloadKey(refusal));
        if (refusal === undefined || !(isWhole || refusal.verdict === 'Proven')) continue;
        if (known === undefined || known.at <= refusal.at) found.set(workloadKey(refusal), refusal);
      }
      if (objects.size === 0) this.#refused.delete(namespace);
    }
    return [...found.values()];
  }

  #refusalFor(tag: string, { creator, namespace, name, reason, times, read }: RefusedObject): Refusal | undefined {
    if (read === undefined || read === null) return undefined;
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

  #note(event: FailedCreate): void {
    const { involvedObject: { kind, name = '' } = {}, message = '', firstTimestamp, lastTimestamp, eventTime } = event;
    const { namespace = '', creationTimestamp = '' } = event.metadata;
    const creator = podCreators.get(kind);
    if (creator === undefined || name.length > longestName || !dnsSubdomainPattern.test(name)) return;
    const reason = readRefusal(message);
    const now = this.#options.clock.now().getTime();
    const at = Math.min(now, Date.parse(lastTimestamp ?? eventTime ?? creationTimestamp));
    if (reason === undefined || Number.isNaN(at)) return;
    const objects = this.#refused.get(namespace) ?? new Map<string, RefusedObject>();
    const key = `${creator.kind}/${name}`;
    const known = objects.get(key);
    if (known === undefined && objects.size >= perNamespace) return;
    const first = Date.parse(firstTimestamp ?? '');
    const times = addRefusal(known?.times, at, first <= at ? first : at);
    const unread = { readAt: -Infinity, isDue: false };
    const refused: RefusedObject = known ?? { creator, namespace, name, reason, times, ...unread };
    // A list returns Events in any order.
    if (at === times.at) refused.reason = reason;
    refused.times = times;
    this.#refused.set(namespace, objects.set(key, refused));
    if (refused.isDue || now - refused.readAt < readAgainMs) return;
    Object.assign(refused, { isDue: true, readAt: now });
    if (!this.#isReading) void this.#readAll();
  }

  #objects(): RefusedObject[] {
    return [...this.#refused.values()].flatMap((objects) => [...objects.values()]);
  }

  /** Reads the objects that are due. Never rejects. */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    for (;;) {
      const due = this.#objects().filter(({ isDue }) => isDue);
      const [next] = this.#shares.inTurns(due, ({ namespace }) => namespace);
      const signal = this.#following?.signal;
      if (next === undefined || signal === undefined) break;
      const begun = this.#options.clock.monotonic();
      next.read = await this.#read(next, signal);
      next.isDue = false;
      this.#shares.serve(next.namespace, 1 + this.#options.clock.monotonic() - begun);
    }
    this.#isReading = false;
  }

  /** Reads an object, and examines the pod of its template. Never rejects. */
  async #read(refused: RefusedObject, signal: AbortSignal): Promise<ReadObject | null> {
    const { client, usage, logger } = this.#options;
    const { creator, namespace, name, reason, read: before = null } = refused;
    try {
      const { items } = await client.list(creator, { namespace, fieldSelector: `metadata.name=${name}`, signal });
      const [object] = items;
      const pod = object && templatePod(object);
      const traits = pod && usage.traitsOf(pod);
      if (object === undefined || pod === undefined || traits === undefined || !lacksPods(object)) return null;
      const judged = usage.judge(traits);
      const stable = judged.map(({ selectedBy }) => this.#stableOf(selectedBy?.id ?? ''));
      const version = JSON.stringify([object.metadata.uid, object.metadata.generation, stable]);
      const isExamined = reason.isInvalid && JSON.stringify(pod).length <= maximumPodLength;
      const verdicts = new Map<string, Refusal['verdict']>();
      for (const { selectedBy } of isExamined ? judged : []) {
        const { id, injectorConfig, hash } = selectedBy ?? {};
        if (id === undefined || injectorConfig === undefined || hash === undefined) continue;
        const target = `${injectorConfig}.${hash}`;
        const known = before?.version === version ? before.verdicts.get(target) : undefined;
        verdicts.set(target, known ?? (await this.#verdictOn(pod, id, { injectorConfig, hash })));
      }
      return { version, traits, verdicts };
    } catch (error) {
      const fields = { kind: creator.kind, namespace, name, error: messageOf(error) };
      if (!signal.aborted) logger.debug('cannot examine the refused pods of an object', fields);
      return before;
    }
  }

  /** Compares the result of a configuration with the bare pod and, in a rollout, with stable's. */
  async #verdictOn(pod: KubernetesObject, webhook: string, target: ConfigurationRef): Promise<Refusal['verdict']> {
    const { isInvalid } = this.#options;
    if (await isInvalid(pod)) return 'Own';
    if ((await isInvalid(pod, target)) !== true) return undefined;
    const stable = this.#stableOf(webhook);
    const isOwn = isSameConfiguration(stable, target) ? false : await isInvalid(pod, stable);
    return isOwn === undefined ? undefined : isOwn ? 'Own' : 'Proven';
  }

  #stableOf(webhook: string): ConfigurationRef {
    const { injectorConfig = '', hash = '' } = this.#options.usage.selectingWebhook(webhook) ?? {};
    return { injectorConfig, hash };
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
