import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { messageOf } from '../../kube/api-error.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
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
  /** The InjectorConfigs and tags of our class, and where those lead now. */
  readonly claims: () => ClaimingObjects;
  readonly rules: Pick<PublishedRules, 'of'>;
  readonly recorder: Pick<EventRecorder<EventReason>, 'record'>;
  /** The operator's own namespace. */
  readonly namespace: string;
}

/** A pod is looked at this long after it came, when its namespace and the configurations have surely come too. Milliseconds. */
const settleMs = 1000;
/** So many are looked at before everything else has its turn. */
const perTurn = 50;
/** So many wait at most. */
const waitingLimit = 1000;
/** Is told of a pod as it was read, and what is kept of it. */
export type PodReader = (pod: KubernetesObject, record: PodRecord) => void;

/**
 * Says of each new pod that asked for injection and did not get it why, by an Event and a count. It is the admission's own `decide`, on the
 * rules that are published; replicas never call the API server for it. Pods are looked at when they come, and once.
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
   * Begins to look at what comes into these stores, until the signal aborts. Returns what is to be told of each pod that is read, before its store is.
   * @param since of the pods that were there before, those that were made after this time may have come while nobody looked
   */
  begin({ pods, namespaces }: FollowedStores, since: Date, signal: AbortSignal): PodReader {
    const arrivals = new WeakMap<PodRecord, ArrivedPod>();
    const isThere = ({ metadata: { name = '', namespace, uid } }: PodRecord): boolean =>
      pods.get(name, namespace)?.metadata.uid === uid;
    const waiting = this.#waitingPods((pod) => (isThere(pod.record) ? this.#look(pod, namespaces) : undefined), signal);
    pods.subscribe(({ type, object }) => {
      const arrived = arrivals.get(object);
      arrivals.delete(object);
      if (type === 'Added' && arrived !== undefined) waiting.add(arrived);
    });
    namespaces.subscribe(({ type, object }) => {
      const { name = '' } = object.metadata;
      if (type === 'Deleted' || this.#mistakesOf(object).length === 0) return;
      // What it names may come in a moment.
      this.#options.clock.after(settleMs, () => {
        const now = namespaces.get(name);
        if (now !== undefined && !signal.aborted) this.#tellOfLabels(now);
      });
    });
    return (pod, record) => {
      const isNews =
        record.injectedBy === undefined &&
        pods.get(record.metadata.name ?? '', record.metadata.namespace) === undefined &&
        (pods.hasSynced || Date.parse(pod.metadata.creationTimestamp ?? '') > since.getTime());
      const arrived = isNews ? arrivedPod(pod, record, this.#annotationNames()) : undefined;
      if (arrived !== undefined) arrivals.set(record, arrived);
    };
  }

  #mistakesOf({ metadata: { labels = {} } }: KubernetesObject): readonly LabelMistake[] {
    const { configs, tags } = this.#options.claims();
    return labelMistakes(labels, labelFamilies(configs, tags));
  }

  /** Says of a namespace which of its labels leads nowhere. */
  #tellOfLabels(namespace: KubernetesObject): void {
    const { recorder, metrics } = this.#options;
    for (const { reason, message } of this.#mistakesOf(namespace)) {
      if (!this.#limits.take(`namespace ${namespace.metadata.name ?? ''}`, reason)) metrics.podEventOmitted?.();
      else recorder.record(namespace, { type: 'Warning', reason, action: 'Inject', note: message });
    }
  }

  /** Pods that wait to be looked at, a few at a time. */
  #waitingPods(
    look: (pod: ArrivedPod) => Promise<void> | undefined,
    signal: AbortSignal,
  ): { add: (pod: ArrivedPod) => void } {
    const { clock, metrics } = this.#options;
    const waiting: { readonly pod: ArrivedPod; readonly due: number }[] = [];
    let isScheduled = false;
    const turn = async (): Promise<void> => {
      const now = clock.monotonic();
      const due = waiting.slice(0, perTurn).filter((each) => each.due <= now);
      waiting.splice(0, due.length);
      for (const { pod } of due) if (!signal.aborted) await look(pod);
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
        if (waiting.length >= waitingLimit) {
          metrics.podEventOmitted?.();
          return;
        }
        waiting.push({ pod, due: clock.monotonic() + settleMs });
        if (!isScheduled) schedule(settleMs);
      },
    };
  }

  async #look(pod: ArrivedPod, namespaces: ObjectStore): Promise<void> {
    const { metrics, recorder, logger } = this.#options;
    const labels = namespaces.get(pod.namespace)?.metadata.labels ?? {};
    // What is published loads, since it was loaded before it was published.
    const explanations = await this.#explain(pod, labels).catch((error: unknown) => {
      const { name } = pod.record.metadata;
      const fields = { namespace: pod.namespace, name, error: messageOf(error) };
      logger.warn('why a pod was not injected cannot be told', fields);
      return [];
    });
    for (const { injectorConfig, reason, note, isExpected } of explanations) {
      metrics.podNotInjected?.(injectorConfig ?? '', reason);
      if (!this.#limits.take(pod.maker, reason)) metrics.podEventOmitted?.();
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
        : await this.#options.rules.of(config.metadata.name, tag?.metadata.name);
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

/** So many pods of one maker (a ReplicaSet, a Job) get an Event for one reason within {@link windowMs}: the others' Events would say the same. */
const perMaker = 3;
const windowMs = 600_000;
/** Of all pods together: so many at once, then one each so many milliseconds. */
const overall = { burst: 25, refillMs: 1000 };

/** Keeps a cluster full of pods that are not injected from becoming a cluster full of Events. */
export class PodEventLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #makers = new Map<string, { count: number; readonly until: number }>();
  /** When the bucket will be full again. */
  #fullAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether an Event may be written about one more pod of this maker, for this reason. */
  take(maker: string, reason: string): boolean {
    const now = this.#clock.monotonic();
    this.#forgetOld(now);
    const key = `${maker} ${reason}`;
    const entry = this.#makers.get(key) ?? { count: 0, until: now + windowMs };
    if (entry.count >= perMaker) return false;
    const fullAt = Math.max(this.#fullAt, now) + overall.refillMs;
    if (fullAt - now > overall.burst * overall.refillMs) return false;
    this.#fullAt = fullAt;
    entry.count += 1;
    this.#makers.set(key, entry);
    return true;
  }

  /** The first of the map is the oldest; by the limit over all, at most some 600 are left. */
  #forgetOld(now: number): void {
    for (const [key, { until }] of this.#makers) {
      if (until > now) return;
      this.#makers.delete(key);
    }
  }
}

/** What must be followed while we lead: the two collections, and what is kept of each object. */
export interface PodStores extends FollowedStores {
  readonly keepOfPod: (pod: KubernetesObject) => PodRecord;
  readonly keepOfNamespace: (namespace: KubernetesObject) => KubernetesObject;
}

/** Of the pods that were there before we led, those younger than this may have come while nobody did. Milliseconds. */
const unwatchedMs = 60_000;
/** The API server's times are whole seconds. Milliseconds. */
const secondMs = 1000;

/** Who asks for the pods and namespaces of the cluster. */
interface PodReaders {
  readonly podEvents: Pick<PodEvents, 'begin'>;
  readonly usage: Pick<ClusterUsage, 'begin'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * The stores to fill until the signal aborts: one list of pods and namespaces for Events about pods and for who uses what.
 * @param again more is asked of pods than was kept: end this and begin anew
 * @param isAgain whether it is that beginning anew, so that whatever came before has been looked at
 */
export function followPods(
  { podEvents, usage, clock }: PodReaders,
  signal: AbortSignal,
  again: () => void,
  isAgain = false,
): PodStores {
  const stores: FollowedStores = { pods: new ObjectStore<PodRecord>(), namespaces: new ObjectStore() };
  const unwatched = isAgain ? secondMs : unwatchedMs;
  const groupOf = usage.begin(stores, signal, again);
  const note = podEvents.begin(stores, new Date(clock.now().getTime() - unwatched), signal);
  return {
    ...stores,
    keepOfPod: (pod) => {
      const record = podRecord(pod, groupOf(pod));
      note(pod, record);
      return record;
    },
    keepOfNamespace: ({ apiVersion, kind, metadata }) => {
      const { name = '', uid = '', labels = {}, resourceVersion = '', deletionTimestamp } = metadata;
      const leaving = deletionTimestamp === undefined ? {} : { deletionTimestamp };
      return { apiVersion, kind, metadata: { name, uid, labels, resourceVersion, ...leaving } };
    },
  };
}
