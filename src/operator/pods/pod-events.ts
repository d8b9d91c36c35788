import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { updatesAnnotation } from '../../api/revision-tag/restart-annotation.ts';
import { messageOf } from '../../kube/api-error.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import { takeFromLargest } from '../../rollout/fair-shares.ts';
import type { EventReason } from '../reasons.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock } from '../../kube/ports.ts';
import { explainSelected, explainUnselected, type PodExplanation } from '../../explain/explain-pod.ts';
import { labelFamilies, type LabelMistake, labelMistakes } from '../../explain/label-mistakes.ts';
import type { ClaimingObjects } from '../../selection/pod-claims.ts';
import { arrivedPod, type ArrivedPod, podRecord } from './pod-record.ts';
import type { FollowedStores, PodRecord } from '../usage/pod-group.ts';
import { PodSelection, webhookOwners } from '../../selection/webhook-owners.ts';
import type { PassContext } from '../controller/pass-context.ts';
import type { PublishedRules } from '../configurations/published-rules.ts';

export interface PodEventsOptions extends Pick<PassContext, 'metrics' | 'clock' | 'logger'> {
  /** Returns the InjectorConfigs and tags of our class, with the current targets of the tags. */
  readonly claims: () => ClaimingObjects;
  readonly rules: Pick<PublishedRules, 'get'>;
  readonly recorder: Pick<EventRecorder<EventReason>, 'record'>;
  /** The namespace of the operator. */
  readonly namespace: string;
}

/** The delay in milliseconds before a pod is examined, while watches deliver related objects. */
const settleMs = 1000;
/** The number of pods that are examined before the process yields to other work. */
const perTurn = 50;
/** The maximum number of waiting pods. */
const waitingLimit = 1000;
/** A function that receives each pod as the API server sent it, and the record of the pod. */
export type PodReader = (pod: KubernetesObject, record: PodRecord) => void;

/**
 * Reports in Events and a metric why new pods that asked for injection were not injected. Applies
 * the published rules with function `decide`, as admission does. Examines each pod once.
 */
export class PodEvents {
  readonly #options: PodEventsOptions;
  readonly #selection: PodSelection;
  readonly #limits: PodEventLimits;

  constructor(options: PodEventsOptions) {
    this.#options = options;
    this.#selection = new PodSelection(options.namespace);
    this.#limits = new PodEventLimits(options.clock);
  }

  /**
   * Examines new objects of these stores until the signal aborts. Returns a function that must be
   * called with each pod before it enters its store.
   * @param since the creation time after which existing pods are examined, too
   */
  begin({ pods, namespaces }: FollowedStores, since: Date, signal: AbortSignal): PodReader {
    const arrivals = new WeakMap<PodRecord, ArrivedPod>();
    const exists = ({ metadata: { name = '', namespace, uid } }: PodRecord): boolean =>
      pods.get(name, namespace)?.metadata.uid === uid;
    const queue = this.#waitingPods((pod) => (exists(pod.record) ? this.#examine(pod, namespaces) : undefined), signal);
    pods.subscribe(({ type, object }) => {
      const arrived = arrivals.get(object);
      arrivals.delete(object);
      if (type === 'Added' && arrived !== undefined) queue.add(arrived);
    });
    namespaces.subscribe(({ type, object }) => {
      const { name = '' } = object.metadata;
      if (type === 'Deleted' || this.#mistakesOf(object).length === 0) return;
      // The revision that the label names may be created a moment later.
      this.#options.clock.after(settleMs, () => {
        const now = namespaces.get(name);
        if (now !== undefined && !signal.aborted) this.#reportLabels(now);
      });
    });
    return (pod, record) => {
      const isNew =
        record.injectedBy === undefined &&
        pods.get(record.metadata.name ?? '', record.metadata.namespace) === undefined &&
        (pods.hasSynced || Date.parse(pod.metadata.creationTimestamp ?? '') > since.getTime());
      const arrived = isNew ? arrivedPod(pod, record, this.#annotationNames()) : undefined;
      if (arrived !== undefined) arrivals.set(record, arrived);
    };
  }

  #mistakesOf({ metadata: { labels = {} } }: KubernetesObject): readonly LabelMistake[] {
    const { configs, tags } = this.#options.claims();
    return labelMistakes(labels, labelFamilies(configs, tags));
  }

  /** Writes Events about the mistakes in a namespace's labels. */
  #reportLabels(namespace: KubernetesObject): void {
    const { recorder, metrics } = this.#options;
    const { name = '' } = namespace.metadata;
    for (const { reason, message } of this.#mistakesOf(namespace)) {
      if (!this.#limits.take(name, `namespace ${name}`, reason)) metrics.podEventOmitted?.();
      else recorder.record(namespace, { type: 'Warning', reason, action: 'Inject', note: message });
    }
  }

  /** Returns a queue that examines pods after a delay, a few pods at a time. */
  #waitingPods(
    examine: (pod: ArrivedPod) => Promise<void> | undefined,
    signal: AbortSignal,
  ): { add: (pod: ArrivedPod) => void } {
    const { clock, metrics } = this.#options;
    const waiting: { readonly namespace: string; readonly pod: ArrivedPod; readonly due: number }[] = [];
    let isScheduled = false;
    const turn = async (): Promise<void> => {
      const now = clock.monotonic();
      const due = waiting.slice(0, perTurn).filter((each) => each.due <= now);
      waiting.splice(0, due.length);
      for (const { pod } of due) if (!signal.aborted) await examine(pod);
      const [next] = waiting;
      isScheduled = false;
      if (next !== undefined && !signal.aborted) schedule(next.due - clock.monotonic());
    };
    const schedule = (milliseconds: number): void => {
      isScheduled = true;
      clock.after(milliseconds, () => void turn());
    };
    return {
      add: (pod) => {
        waiting.push({ namespace: pod.namespace, pod, due: clock.monotonic() + settleMs });
        if (!isScheduled) schedule(settleMs);
        if (waiting.length <= waitingLimit) return;
        takeFromLargest(waiting);
        metrics.podEventOmitted?.();
      },
    };
  }

  async #examine(pod: ArrivedPod, namespaces: ObjectStore): Promise<void> {
    const { metrics, recorder, logger } = this.#options;
    const labels = namespaces.get(pod.namespace)?.metadata.labels ?? {};
    // Loading should not fail, because a configuration is loaded before it is published.
    const explanations = await this.#explain(pod, labels).catch((error: unknown) => {
      const { name } = pod.record.metadata;
      const fields = { namespace: pod.namespace, name, error: messageOf(error) };
      logger.warn('cannot determine why a pod was not injected', fields);
      return [];
    });
    for (const { injectorConfig, reason, note, isExpected } of explanations) {
      metrics.podNotInjected?.(injectorConfig ?? '', reason);
      if (!this.#limits.take(pod.namespace, pod.maker, reason)) metrics.podEventOmitted?.();
      else recorder.record(pod.record, { type: isExpected ? 'Normal' : 'Warning', reason, action: 'Inject', note });
    }
  }

  async #explain(pod: ArrivedPod, labels: Readonly<Record<string, string>>): Promise<PodExplanation[]> {
    const claims = this.#options.claims();
    const configs = claims.configs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const selecting = this.#selection.of(pod, labels, webhookOwners(claims));
    if (selecting.length === 0) return [explainUnselected(pod, labels, configs, this.#selection) ?? []].flat();
    const explanations: PodExplanation[] = [];
    for (const owner of selecting) {
      const { config, tag } = owner;
      const rules = config.spec.paused
        ? undefined
        : await this.#options.rules.get(config.metadata.name, tag?.metadata.name);
      const explanation = explainSelected(pod, owner, rules);
      if (explanation !== undefined) explanations.push(explanation);
    }
    return explanations;
  }

  #annotationNames(): string[] {
    return this.#options
      .claims()
      .configs.flatMap(({ spec: { webhook } }) => [webhook.keys.inject, webhook.keys.status]);
  }
}

/** The maximum number of Events per reason and maker (such as a ReplicaSet) in {@link windowMs}. */
const perMaker = 3;
const windowMs = 600_000;
/** The limit for all pods: a burst, then one Event per `refillMs`. Namespaces share it equally. */
const overall = { burst: 25, refillMs: 1000 };

/** The recent Events about the pods of a namespace. */
interface NamespaceLimits {
  /** When its token bucket is full again, according to `clock.monotonic`. */
  fullAt: number;
  /** By maker and reason. */
  readonly makers: Map<string, { readonly count: number; readonly until: number }>;
}

/** Limits the Events about pods that are not injected. */
export class PodEventLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #namespaces = new Map<string, NamespaceLimits>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Reports whether one more Event is allowed for this maker and reason, and counts it. */
  take(namespace: string, maker: string, reason: string): boolean {
    const now = this.#clock.monotonic();
    this.#forgetOld(now);
    const key = `${maker} ${reason}`;
    const known: NamespaceLimits = this.#namespaces.get(namespace) ?? { fullAt: now, makers: new Map() };
    const entry = known.makers.get(key) ?? { count: 0, until: now + windowMs };
    if (entry.count >= perMaker) return false;
    const fullAt = Math.max(known.fullAt, now);
    if (fullAt - now > (overall.burst - 1) * overall.refillMs) return false;
    const others = [...this.#namespaces.values()].filter((each) => each !== known && each.fullAt > now);
    known.fullAt = fullAt + overall.refillMs * (others.length + 1);
    known.makers.set(key, { ...entry, count: entry.count + 1 });
    this.#namespaces.set(namespace, known);
    return true;
  }

  /** Drops what has expired. The limit for all pods bounds the rest to about 1000 makers. */
  #forgetOld(now: number): void {
    for (const [namespace, { fullAt, makers }] of this.#namespaces) {
      for (const [key, { until }] of makers) if (until <= now) makers.delete(key);
      if (fullAt <= now && makers.size === 0) this.#namespaces.delete(namespace);
    }
  }
}

/** The stores of the pod and namespace watches, and the transforms of their objects. */
export interface PodStores extends FollowedStores {
  readonly keepOfPod: (pod: KubernetesObject) => PodRecord;
  readonly keepOfNamespace: (namespace: KubernetesObject) => KubernetesObject;
}

/** The maximum age, in ms, of the existing pods that a new leader examines. */
const unwatchedMs = 60_000;
/** The resolution of the API server's timestamps, in milliseconds. */
const secondMs = 1000;

/** The consumers of pods and namespaces. */
interface PodReaders {
  readonly podEvents: Pick<PodEvents, 'begin'>;
  readonly usage: Pick<ClusterUsage, 'begin'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The maximum length of the annotation that allows or denies updates, in characters. */
const choiceLimit = 64;

/**
 * Returns the stores for one watch of pods and namespaces, which serves Events and usage.
 * @param restart ends this watch and starts another; called when a selector needs a dropped field
 * @param isRestart whether this watch replaces an ended watch that already examined existing pods
 */
export function followPods(
  { podEvents, usage, clock }: PodReaders,
  signal: AbortSignal,
  restart: () => void,
  isRestart = false,
): PodStores {
  const stores: FollowedStores = { pods: new ObjectStore<PodRecord>(), namespaces: new ObjectStore() };
  const unwatched = isRestart ? secondMs : unwatchedMs;
  const groupOf = usage.begin(stores, signal, restart);
  const readPod = podEvents.begin(stores, new Date(clock.now().getTime() - unwatched), signal);
  return {
    ...stores,
    keepOfPod: (pod) => {
      const record = podRecord(pod, groupOf(pod));
      readPod(pod, record);
      return record;
    },
    keepOfNamespace: ({ apiVersion, kind, metadata }) => {
      const { name = '', uid = '', labels = {}, resourceVersion = '', deletionTimestamp } = metadata;
      const leaving = deletionTimestamp === undefined ? {} : { deletionTimestamp };
      const choice = metadata.annotations?.[updatesAnnotation]?.slice(0, choiceLimit);
      const annotations = choice === undefined ? {} : { annotations: { [updatesAnnotation]: choice } };
      return { apiVersion, kind, metadata: { name, uid, labels, resourceVersion, ...annotations, ...leaving } };
    },
  };
}
