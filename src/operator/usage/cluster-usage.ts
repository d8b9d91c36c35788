import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { messageOf } from '../../kube/api-error.ts';
import type { Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { ClaimingObjects } from '../../selection/pod-claims.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { foreign } from './judge-pod.ts';
import { type FollowedStores, type PodGroup, PodGroups } from './pod-group.ts';
import { type RelevantNames, traitsOf } from './pod-traits.ts';
import { PodUsage } from './pod-usage.ts';
import { keysOf } from '../../selection/label-selector.ts';
import { SelectingWebhookReader } from '../../selection/read-selecting-webhooks.ts';
import { usageFigures, type UsageFigures } from './usage-figures.ts';
import { UsageSnapshots, type UsageSnapshotsOptions } from './usage-snapshots.ts';
import { type UsageSource, usageStatus } from './usage-status.ts';
import { usageKey } from './usage-subject.ts';

export interface ClusterUsageOptions extends Pick<UsageSnapshotsOptions, 'clock' | 'timeScale'> {
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
  readonly logger: Logger;
}

/** How long to collect changes before a refresh, in milliseconds. */
const batchMs = 100;
/** How long to wait before loading rules again after a failure, in milliseconds. */
const retryMs = 30_000;

/** The counts of one leadership. */
interface Counting {
  readonly usage: PodUsage;
  readonly groups: PodGroups;
  readonly stores: FollowedStores;
  readonly signal: AbortSignal;
  /** The webhooks that `usage` knows, by id. */
  selectingWebhooks: ReadonlyMap<string, SelectingWebhook>;
  families: ReadonlySet<string>;
  /** All InjectorConfigs, even if they have another operator class or do not parse. */
  configs: ReadonlySet<string>;
  subjects: ReadonlySet<string>;
  /** The number of relevant label and annotation names when the list of pods began. */
  names: number;
  /** When all pods and namespaces had been listed, according to `clock.monotonic`. */
  since?: number;
  readonly relist: () => void;
}

/** Keeps {@link PodUsage} in sync with the cluster, and provides usage for statuses and metrics. */
export class ClusterUsage implements UsageSource {
  readonly #options: ClusterUsageOptions;
  readonly #names = new KnownNames();
  readonly #snapshots: UsageSnapshots;
  #reader: SelectingWebhookReader;
  #counting: Counting | undefined;
  #isDue = false;

  constructor(options: ClusterUsageOptions) {
    this.#options = options;
    this.#reader = new SelectingWebhookReader(options.namespace);
    this.#snapshots = new UsageSnapshots({
      ...options,
      compute: (subject) => this.#compute(subject),
      news: (subject) => {
        const [kind = '', name = ''] = subject.split('/');
        options.news(kind as 'InjectorConfig' | 'RevisionTag', name);
      },
    });
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
      changed: this.#snapshots.changed.bind(this.#snapshots),
      left: (subject, group) => {
        const [kind, name = ''] = subject.split('/');
        if (kind === 'RevisionTag') this.#options.left?.(name, group);
      },
      rulesNeeded: (injectorConfig, hash) => void this.#loadRules(counting, injectorConfig, hash),
    });
    this.#reader = new SelectingWebhookReader(this.#options.namespace);
    const counting: Counting = {
      usage,
      groups: new PodGroups(),
      stores,
      signal,
      selectingWebhooks: new Map(),
      families: new Set(),
      configs: new Set(),
      subjects: new Set(),
      names: 0,
      relist,
    };
    this.#refresh(counting);
    counting.names = this.#names.size;
    this.#counting = counting;
    stores.namespaces.subscribe(({ type, object }) => {
      const { name = '', labels = {} } = object.metadata;
      usage.setNamespace(name, type === 'Deleted' ? undefined : labels);
    });
    stores.pods.subscribe(({ type, object, before }) => usage.setPod(before, type === 'Deleted' ? undefined : object));
    void Promise.all([stores.pods.synced(), stores.namespaces.synced()]).then(() => {
      counting.since = this.#options.clock.monotonic();
      for (const subject of counting.subjects) this.#snapshots.changed(subject);
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
    return this.#snapshots.of(usageKey('InjectorConfig', name));
  }

  tag(name: string): UsageStatus | undefined {
    return this.#snapshots.of(usageKey('RevisionTag', name));
  }

  /** Returns the pods of a tag or InjectorConfig; undefined before the list, or on non-leaders. */
  podsOf(name: string, kind: 'InjectorConfig' | 'RevisionTag' = 'RevisionTag'): Iterable<PodGroup> | undefined {
    const counting = this.#synced();
    return counting && (counting.usage.subject(usageKey(kind, name))?.groups.keys() ?? []);
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

  /** Returns the version of a webhook by which pods are judged now; undefined on non-leaders. */
  selectingWebhook(id: string): SelectingWebhook | undefined {
    return this.#counting?.selectingWebhooks.get(id);
  }

  /** Returns the figures for metrics; undefined on non-leaders. */
  figures(): UsageFigures | undefined {
    return this.#counting && usageFigures(this.#counting.usage, this.#counting.families);
  }

  #compute(subject: string): UsageStatus | undefined {
    const counting = this.#synced();
    return counting?.subjects.has(subject) === true ? usageStatus(counting.usage.subject(subject)) : undefined;
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
    const { usage } = counting;
    const { view, claims } = this.#options;
    const claiming = claims();
    const selectingWebhooks = this.#reader.read(
      view.mutatingWebhooks.list().filter((object) => view.isOurs(object)),
      claiming,
    );
    for (const selectingWebhook of selectingWebhooks.values()) this.#names.addWebhook(selectingWebhook);
    for (const config of claiming.configs) {
      this.#names.addConfig(config);
      usage.setFamily(config.metadata.name, config.spec.webhook.keys, revisionOf(config));
    }
    const families = new Set(claiming.configs.map(({ metadata }) => metadata.name));
    const names = new Set([...families, ...view.configs.list().map(({ metadata: { name = '' } }) => name)]);
    for (const name of names) if (!families.has(name)) usage.setFamily(name, foreign);
    for (const name of counting.configs) if (!names.has(name)) usage.setFamily(name, undefined);
    for (const id of counting.selectingWebhooks.keys()) if (!selectingWebhooks.has(id)) usage.setWebhook(id, undefined);
    for (const [id, selectingWebhook] of selectingWebhooks) usage.setWebhook(id, selectingWebhook);
    const subjects = new Set([
      ...claiming.configs.map(({ metadata }) => usageKey('InjectorConfig', metadata.name)),
      ...claiming.tags.map(({ metadata }) => usageKey('RevisionTag', metadata.name)),
    ]);
    for (const subject of counting.subjects) if (!subjects.has(subject)) this.#snapshots.forget(subject);
    const added = [...subjects].filter((subject) => !counting.subjects.has(subject));
    Object.assign(counting, { selectingWebhooks, families, configs: names, subjects });
    for (const subject of added) this.#snapshots.changed(subject);
    this.#relistIfNeeded(counting);
  }

  #relistIfNeeded(counting: Counting): void {
    if (this.#counting !== counting || counting.signal.aborted) return;
    if (this.#names.size === counting.names) return;
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
        if (this.#counting === counting && counting.usage.needsRules(injectorConfig, hash))
          void this.#loadRules(counting, injectorConfig, hash);
      });
      return;
    }
    this.#names.addRules(rules);
    counting.usage.setRules(injectorConfig, hash, rules);
    this.#relistIfNeeded(counting);
  }
}

/** The relevant labels and annotations that have been found so far. Names are never removed. */
class KnownNames implements RelevantNames {
  readonly labels = new Set<string>();
  readonly annotations = new Set<string>();
  readonly statuses = new Set<string>();

  /** The number of names. */
  get size(): number {
    return this.labels.size + this.annotations.size + this.statuses.size;
  }

  addConfig({ spec: { webhook, injection } }: InjectorConfig): void {
    const { keys } = webhook;
    for (const name of [keys.revision, keys.inject]) this.labels.add(name);
    this.annotations.add(keys.inject);
    this.statuses.add(keys.status);
    for (const selector of [...injection.neverInjectSelector, ...injection.alwaysInjectSelector]) {
      for (const name of keysOf(selector)) this.labels.add(name);
    }
  }

  addWebhook({ selectors }: SelectingWebhook): void {
    for (const { podLabels } of selectors) for (const name of podLabels) this.labels.add(name);
  }

  addRules({ neverInject, alwaysInject }: DecisionRules): void {
    for (const selector of [...neverInject, ...alwaysInject]) {
      for (const name of 'keys' in selector ? selector.keys : []) this.labels.add(name);
    }
  }
}
