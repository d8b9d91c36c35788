import { isDeepStrictEqual } from 'node:util';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';
import { updatesAnnotation } from '../../api/revision-tag/restart-annotation.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { messageOf } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { ClaimingObjects } from '../../selection/pod-claims.ts';
import { type CompiledSelectors, compileSelectors, type SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { type FamilyMember, familyMember, foreign, type PodJudgement } from './judge-pod.ts';
import { type FollowedStores, type PodGroup, PodGroups, type PodRecord } from './pod-group.ts';
import { type PodTraits, type RelevantNames, traitsOf } from './pod-traits.ts';
import { PodUsage, usageKey } from './pod-usage.ts';
import { istioWebhookSelectors } from '../../selection/foreign-overlap.ts';
import { keysOf } from '../../selection/label-selector.ts';
import { SelectingWebhookReader } from '../../selection/read-selecting-webhooks.ts';
import { podRecord } from '../pods/pod-record.ts';
import { usageFigures, type UsageFigures } from './usage-figures.ts';
import { type UsageSource, usageStatus } from './usage-status.ts';

export interface ClusterUsageOptions {
  readonly view: Pick<ClusterView, 'configs' | 'tags' | 'mutatingWebhooks' | 'isOurs'>;
  readonly claims: () => ClaimingObjects;
  /** The operator's namespace. */
  readonly namespace: string;
  /** Loads a configuration's rules. Resolves with undefined if the load must be retried. */
  readonly rules: (injectorConfig: string, hash: string) => Promise<DecisionRules | undefined>;
  /** Requests a write of the status of an object. */
  readonly news: (kind: 'InjectorConfig' | 'RevisionTag', name: string) => void;
  /** Called when the last pod of a group that follows a tag is deleted. */
  readonly left?: (tag: string, group: PodGroup) => void;
  readonly clock: Clock;
  /** The divisor of the interval between two snapshots, for tests; default 1. */
  readonly timeScale?: number | undefined;
  readonly logger: Logger;
}

/** How long to collect changes before a refresh, in milliseconds. */
const batchMs = 100;
/** The minimum interval between two snapshots of a subject, in milliseconds. */
const snapshotMs = 30_000;
/** How long to collect changes before a snapshot, in milliseconds. */
const settleMs = 250;
/** The pause between two snapshots, in milliseconds; each takes milliseconds in a large cluster. */
const betweenMs = 5;
/** How long to wait before loading rules again after a failure, in milliseconds. */
const retryMs = 30_000;

/** The counts of one leadership. */
interface Counting {
  readonly usage: PodUsage;
  readonly groups: PodGroups;
  readonly stores: FollowedStores;
  readonly signal: AbortSignal;
  /** The existing InjectorConfigs and tags of our class. */
  subjects: ReadonlySet<string>;
  /** The number of relevant label and annotation names when the list of pods began. */
  names: number;
  /** When all pods and namespaces had been listed, according to `clock.monotonic`. */
  since?: number;
  readonly relist: () => void;
}

/** The usage of an InjectorConfig or tag that its status shows. */
interface Snapshot {
  status: UsageStatus | undefined;
  /** When `status` was taken, according to `clock.monotonic`. */
  at: number;
  /** Whether a timer for the next snapshot runs. */
  isDue: boolean;
}

/**
 * Keeps {@link PodUsage} in sync with the cluster, and provides usage for statuses and metrics. A
 * snapshot for a status stays the same for 30 s, regardless of other status writes and the number
 * of changes. After 30 s without a change, the next change is shown immediately.
 */
export class ClusterUsage implements UsageSource {
  readonly #options: ClusterUsageOptions;
  /** The relevant names that have been found so far. Names are never removed. */
  #names: RelevantNames = { labels: new Set(), annotations: new Set(), statuses: new Set() };
  readonly #snapshots = new Map<string, Snapshot>();
  /** Resolves when the next snapshot may be taken. All at once would block the event loop. */
  #mayTake = Promise.resolve();
  readonly #reader: SelectingWebhookReader;
  #lastIstios: { readonly text: string; readonly selectors: readonly CompiledSelectors[] } = {
    text: '',
    selectors: [],
  };
  #counting: Counting | undefined;
  #isDue = false;

  constructor(options: ClusterUsageOptions) {
    this.#options = options;
    this.#reader = new SelectingWebhookReader(options.namespace);
    const { configs, tags, mutatingWebhooks } = options.view;
    for (const store of [configs, tags, mutatingWebhooks]) store.subscribe(() => this.#refreshSoon());
  }

  /**
   * Counts the objects in these stores until the signal aborts. Returns a function that finds the
   * group of a pod. @param relist called once if a label is needed that was not stored with pods
   */
  begin(
    stores: FollowedStores,
    signal: AbortSignal,
    relist: () => void,
  ): (pod: KubernetesObject) => PodGroup | undefined {
    const usage = new PodUsage({
      changed: (subject) => this.#snapshotSoon(subject),
      left: (subject, group) => {
        const [kind, name = ''] = subject.split('/');
        if (kind === 'RevisionTag') this.#options.left?.(name, group);
      },
      rulesNeeded: (injectorConfig, hash) => void this.#loadRules(counting, injectorConfig, hash),
    });
    const counting: Counting = {
      usage,
      groups: new PodGroups(),
      stores,
      signal,
      subjects: new Set(),
      names: 0,
      relist,
    };
    this.#refresh(counting);
    counting.names = sizeOf(this.#names);
    this.#counting = counting;
    stores.namespaces.subscribe(({ type, object }) => {
      const { name = '', labels = {} } = object.metadata;
      usage.setNamespace(name, type === 'Deleted' ? undefined : labels);
    });
    stores.pods.subscribe(({ type, object, before }) => usage.setPod(before, type === 'Deleted' ? undefined : object));
    void Promise.all([stores.pods.synced(), stores.namespaces.synced()]).then(() => {
      counting.since = this.#options.clock.monotonic();
      for (const subject of counting.subjects) this.#snapshotSoon(subject);
    });
    signal.addEventListener('abort', () => {
      if (this.#counting !== counting) return;
      this.#counting = undefined;
      this.#snapshots.clear();
    });
    return (pod) => {
      const traits = traitsOf(pod, this.#names);
      return traits && counting.groups.of(traits);
    };
  }

  injectorConfig(name: string): UsageStatus | undefined {
    return this.#snapshots.get(usageKey('InjectorConfig', name))?.status;
  }

  tag(name: string): UsageStatus | undefined {
    return this.#snapshots.get(usageKey('RevisionTag', name))?.status;
  }

  /** Returns the pods of a tag or InjectorConfig; undefined before the list, or on non-leaders. */
  podsOf(name: string, kind: 'InjectorConfig' | 'RevisionTag' = 'RevisionTag'): Iterable<PodGroup> | undefined {
    const counting = this.#synced();
    return counting?.usage.groupsOf(usageKey(kind, name));
  }

  /** Returns when all pods had been listed (`clock.monotonic`); undefined before that time. */
  followedSince(): number | undefined {
    return this.#counting?.since;
  }

  /** Reports whether a namespace is deleted or being deleted; false until they are listed. */
  isBeingDeleted(namespace: string): boolean {
    const { namespaces } = this.#counting?.stores ?? {};
    if (namespaces?.hasSynced !== true) return false;
    const found = namespaces.get(namespace);
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }

  /** Returns the counted pods that record an update in place. */
  updatedPods(): PodRecord[] {
    const pods = this.#synced()?.stores.pods.list() ?? [];
    return pods.filter(({ update }) => update !== undefined);
  }

  /** Stores a pod that this process wrote, before the watch event arrives. */
  written(pod: KubernetesObject): void {
    const counting = this.#counting;
    if (counting === undefined) return;
    const traits = traitsOf(pod, this.#names);
    counting.stores.pods.upsert(podRecord(pod, traits && counting.groups.of(traits)));
  }

  /** Returns the annotation of a namespace that allows or denies updates. */
  updatesChoice(namespace: string): string | undefined {
    return this.#counting?.stores.namespaces.get(namespace)?.metadata.annotations?.[updatesAnnotation];
  }

  /** Returns the version of a webhook by which pods are judged now; undefined on non-leaders. */
  selectingWebhook(id: string): SelectingWebhook | undefined {
    return this.#counting?.usage.judging.webhooks.get(id);
  }

  /** Returns the traits of a pod that need not exist; undefined if the pod would not count. */
  traitsOf(pod: KubernetesObject): PodTraits | undefined {
    return traitsOf(pod, this.#names);
  }

  /** Judges a pod that need not exist; returns no judgements on non-leaders. */
  judge(traits: PodTraits): readonly PodJudgement[] {
    return this.#synced()?.usage.judge(traits) ?? [];
  }

  /** Returns the figures for metrics; undefined on non-leaders. */
  figures(): UsageFigures | undefined {
    if (this.#counting === undefined) return undefined;
    const { usage } = this.#counting;
    const { families } = usage.judging;
    return usageFigures(usage.totals(), (name) => (families.get(name) ?? foreign) !== foreign);
  }

  #snapshotSoon(subject: string): void {
    const known = this.#snapshots.get(subject) ?? { status: undefined, at: -Infinity, isDue: false };
    if (known.isDue) return;
    const { clock, timeScale = 1 } = this.#options;
    known.isDue = true;
    this.#snapshots.set(subject, known);
    clock.after(Math.max(settleMs, known.at + snapshotMs / timeScale - clock.monotonic()), () => {
      this.#mayTake = this.#mayTake.then(() => {
        // The subject may have been deleted meanwhile.
        if (this.#snapshots.get(subject) === known) this.#takeSnapshot(subject, known);
        return pause(clock, betweenMs);
      });
    });
  }

  #takeSnapshot(subject: string, known: Snapshot): void {
    const counting = this.#synced();
    known.isDue = false;
    if (counting?.subjects.has(subject) === true) {
      const status = usageStatus(counting.usage.subject(subject));
      if (isDeepStrictEqual(status, known.status)) return;
      Object.assign(known, { status, at: this.#options.clock.monotonic() });
      const [kind = '', name = ''] = subject.split('/');
      this.#options.news(kind as 'InjectorConfig' | 'RevisionTag', name);
    }
    // The annotations of pods can name any number of subjects that do not exist.
    if (known.status === undefined) this.#snapshots.delete(subject);
  }

  /** Returns undefined before all pods and namespaces are listed. */
  #synced(): Counting | undefined {
    const { pods, namespaces } = this.#counting?.stores ?? {};
    return pods?.hasSynced === true && namespaces?.hasSynced === true ? this.#counting : undefined;
  }

  #refreshSoon(): void {
    if (this.#counting === undefined || this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.after(batchMs, () => {
      this.#isDue = false;
      if (this.#counting !== undefined) this.#refresh(this.#counting);
    });
  }

  #refresh(counting: Counting): void {
    const { view, claims } = this.#options;
    const claiming = claims();
    const all = view.mutatingWebhooks.list();
    const ours = all.filter((object) => view.isOurs(object));
    const istios = this.#istios(all);
    const webhooks = this.#reader.read(ours, claiming);
    this.#names = withNames(this.#names, claiming.configs, [
      ...[...webhooks.values()].flatMap(({ selectors }) => selectors),
      ...istios,
    ]);
    const families = new Map<string, FamilyMember | typeof foreign>();
    // Includes InjectorConfigs that do not parse.
    for (const { metadata } of view.configs.list()) families.set(metadata.name ?? '', foreign);
    for (const config of claiming.configs) {
      families.set(config.metadata.name, familyMember(config.spec.webhook.keys, revisionOf(config)));
    }
    counting.usage.update({ webhooks, families, istios });
    const subjects = new Set([
      ...claiming.configs.map(({ metadata }) => usageKey('InjectorConfig', metadata.name)),
      ...claiming.tags.map(({ metadata }) => usageKey('RevisionTag', metadata.name)),
    ]);
    for (const subject of counting.subjects) if (!subjects.has(subject)) this.#snapshots.delete(subject);
    const added = [...subjects].filter((subject) => !counting.subjects.has(subject));
    counting.subjects = subjects;
    for (const subject of added) this.#snapshotSoon(subject);
    this.#relistIfNeeded(counting);
  }

  /** Returns Istio's selectors, the last array unless they changed: then all pods are judged. */
  #istios(configurations: readonly KubernetesObject[]): readonly CompiledSelectors[] {
    const webhooks = istioWebhookSelectors(configurations);
    const text = JSON.stringify(webhooks);
    if (text !== this.#lastIstios.text) this.#lastIstios = { text, selectors: webhooks.map(compileSelectors) };
    return this.#lastIstios.selectors;
  }

  #relistIfNeeded(counting: Counting): void {
    if (this.#counting !== counting || counting.signal.aborted) return;
    if (sizeOf(this.#names) === counting.names) return;
    this.#options.logger.info('listing pods again: a selector uses a label that was not kept');
    this.#counting = undefined;
    counting.relist();
  }

  async #loadRules(counting: Counting, injectorConfig: string, hash: string): Promise<void> {
    const { rules: load, clock, logger } = this.#options;
    const rules = await load(injectorConfig, hash).catch((error: unknown) => {
      const fields = { injectorConfig, hash, error: messageOf(error) };
      logger.warn('failed to load the rules of a published configuration', fields);
      return undefined;
    });
    if (this.#counting !== counting) return;
    if (rules === undefined) {
      clock.after(retryMs, () => {
        if (this.#counting === counting) counting.usage.setRules(injectorConfig, hash, undefined);
      });
      return;
    }
    const labels = [...rules.neverInject, ...rules.alwaysInject].flatMap((each) => ('keys' in each ? each.keys : []));
    this.#names = { ...this.#names, labels: new Set([...this.#names.labels, ...labels]) };
    counting.usage.setRules(injectorConfig, hash, rules);
    this.#relistIfNeeded(counting);
  }
}

/** Adds the names of the labels and annotations that families and selectors use. */
function withNames(
  known: RelevantNames,
  configs: readonly InjectorConfig[],
  selectors: readonly CompiledSelectors[],
): RelevantNames {
  const keys = configs.map(({ spec }) => spec.webhook.keys);
  const inRules = configs.flatMap(({ spec: { injection } }) => [
    ...injection.neverInjectSelector,
    ...injection.alwaysInjectSelector,
  ]);
  const labels = [
    ...keys.flatMap(({ revision, inject }) => [revision, inject]),
    ...inRules.flatMap(keysOf),
    ...selectors.flatMap(({ podLabels }) => podLabels),
  ];
  return {
    labels: new Set([...known.labels, ...labels]),
    annotations: new Set([...known.annotations, ...keys.map(({ inject }) => inject)]),
    statuses: new Set([...known.statuses, ...keys.map(({ status }) => status)]),
  };
}

function sizeOf({ labels, annotations, statuses }: RelevantNames): number {
  return labels.size + annotations.size + statuses.size;
}
