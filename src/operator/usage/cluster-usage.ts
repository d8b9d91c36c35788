import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { messageOf } from '../../kube/api-error.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { ClaimingObjects } from '../../selection/pod-claims.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { elsewhere } from './judge-pod.ts';
import { type FollowedStores, type PodGroup, PodGroups } from './pod-group.ts';
import { type RelevantNames, traitsOf } from './pod-traits.ts';
import { PodUsage } from './pod-usage.ts';
import { keysOf } from '../../selection/label-selector.ts';
import { SelectingWebhookReader } from '../../selection/read-selecting-webhooks.ts';
import { usageFigures, type UsageFigures } from './usage-figures.ts';
import { UsageSnapshots } from './usage-snapshots.ts';
import { type UsageSource, usageStatus } from './usage-status.ts';
import { subjectOf } from './usage-subject.ts';

export interface ClusterUsageOptions {
  readonly view: Pick<ClusterView, 'configs' | 'tags' | 'mutatingWebhooks' | 'isOurs'>;
  readonly claims: () => ClaimingObjects;
  /** The operator's own. */
  readonly namespace: string;
  /** The rules of a published configuration; undefined when it cannot be read now. */
  readonly rules: (injectorConfig: string, hash: string) => Promise<DecisionRules | undefined>;
  /** A status is to be written. */
  readonly news: (kind: 'InjectorConfig' | 'RevisionTag', name: string) => void;
  /** The last pod of those that have what it had has gone; it followed a tag. */
  readonly left?: (tag: string, group: PodGroup) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What changes together is taken over together. Milliseconds. */
const settleMs = 100;
/** Rules that could not be read are asked for again. Milliseconds. */
const retryMs = 30_000;

/** Counts for as long as this process leads. */
interface Counting {
  readonly usage: PodUsage;
  readonly groups: PodGroups;
  readonly stores: FollowedStores;
  readonly signal: AbortSignal;
  /** The webhook configurations and InjectorConfigs that it has been told of. */
  selectingWebhooks: ReadonlyMap<string, SelectingWebhook>;
  families: ReadonlySet<string>;
  /** Also those that are not ours, or cannot be read. */
  configs: ReadonlySet<string>;
  subjects: ReadonlySet<string>;
  /** How many names counted when the pods began to be read. */
  names: number;
  /** When all pods and namespaces had been read, by `clock.monotonic`. */
  since?: number;
  readonly again: () => void;
}

/** Keeps the counts of {@link PodUsage} equal to the cluster, and says what statuses and metrics make of them. */
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
      clock: options.clock,
      look: (subject) => this.#look(subject),
      news: (subject) => {
        const [kind = '', name = ''] = subject.split('/');
        options.news(kind as 'InjectorConfig' | 'RevisionTag', name);
      },
    });
    const { configs, tags, mutatingWebhooks } = options.view;
    for (const store of [configs, tags, mutatingWebhooks]) store.subscribe(() => this.#refreshSoon());
  }

  /**
   * Begins to count what comes into these stores, until the signal aborts. Returns what groups a pod as it is read.
   * @param again called once, when something is asked of pods that was not kept of those that were read already: they must be read anew
   */
  begin(
    stores: FollowedStores,
    signal: AbortSignal,
    again: () => void,
  ): (pod: KubernetesObject) => PodGroup | undefined {
    const usage = new PodUsage({
      changed: this.#snapshots.changed.bind(this.#snapshots),
      left: (subject, group) => {
        const [kind, name = ''] = subject.split('/');
        if (kind === 'RevisionTag') this.#options.left?.(name, group);
      },
      rulesWanted: (injectorConfig, hash) => void this.#loadRules(counting, injectorConfig, hash),
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
      again,
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
    return this.#snapshots.of(subjectOf('InjectorConfig', name));
  }

  tag(name: string): UsageStatus | undefined {
    return this.#snapshots.of(subjectOf('RevisionTag', name));
  }

  /** The pods that use a tag or an InjectorConfig; undefined until all are read, and by others. */
  podsOf(name: string, kind: 'InjectorConfig' | 'RevisionTag' = 'RevisionTag'): Iterable<PodGroup> | undefined {
    const counting = this.#synced();
    return counting && (counting.usage.subject(subjectOf(kind, name))?.groups.keys() ?? []);
  }

  /** Since when all pods have been followed, by `clock.monotonic`; undefined while they are not. */
  followedSince(): number | undefined {
    return this.#counting?.since;
  }

  /** Whether a namespace is gone or on its way out; false while namespaces have not been read. */
  isLeaving(namespace: string): boolean {
    const { namespaces } = this.#counting?.stores ?? {};
    if (namespaces?.hasSynced !== true) return false;
    const found = namespaces.get(namespace);
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }

  /** Who takes pods by the webhook configuration of this name, as the pods are judged now; undefined when nobody does, and while another process counts. */
  selectingWebhook(id: string): SelectingWebhook | undefined {
    return this.#counting?.selectingWebhooks.get(id);
  }

  /** What metrics show; nothing while another process counts. */
  figures(): UsageFigures | undefined {
    return this.#counting && usageFigures(this.#counting.usage, this.#counting.families);
  }

  #look(subject: string): UsageStatus | undefined {
    const counting = this.#synced();
    return counting?.subjects.has(subject) === true ? usageStatus(counting.usage.subject(subject)) : undefined;
  }

  /** Undefined until all pods and namespaces have been read. */
  #synced(): Counting | undefined {
    const { pods, namespaces } = this.#counting?.stores ?? {};
    return pods?.hasSynced === true && namespaces?.hasSynced === true ? this.#counting : undefined;
  }

  #refreshSoon(): void {
    if (this.#counting === undefined || this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.after(settleMs, () => {
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
    for (const name of names) if (!families.has(name)) usage.setFamily(name, elsewhere);
    for (const name of counting.configs) if (!names.has(name)) usage.setFamily(name, undefined);
    for (const id of counting.selectingWebhooks.keys()) if (!selectingWebhooks.has(id)) usage.setWebhook(id, undefined);
    for (const [id, selectingWebhook] of selectingWebhooks) usage.setWebhook(id, selectingWebhook);
    const subjects = new Set([
      ...claiming.configs.map(({ metadata }) => subjectOf('InjectorConfig', metadata.name)),
      ...claiming.tags.map(({ metadata }) => subjectOf('RevisionTag', metadata.name)),
    ]);
    for (const subject of counting.subjects) if (!subjects.has(subject)) this.#snapshots.forget(subject);
    const added = [...subjects].filter((subject) => !counting.subjects.has(subject));
    Object.assign(counting, { selectingWebhooks, families, configs: names, subjects });
    for (const subject of added) this.#snapshots.changed(subject);
    this.#readAgainIfAsked(counting);
  }

  #readAgainIfAsked(counting: Counting): void {
    if (this.#counting !== counting || counting.signal.aborted) return;
    if (this.#names.size === counting.names) return;
    this.#options.logger.info('pods are read again: a selector asks for a label that was not kept');
    this.#counting = undefined;
    counting.again();
  }

  async #loadRules(counting: Counting, injectorConfig: string, hash: string): Promise<void> {
    const { rules: load, clock, logger } = this.#options;
    const rules = await load(injectorConfig, hash).catch((error: unknown) => {
      const fields = { injectorConfig, hash, error: messageOf(error) };
      logger.warn('the rules of a published configuration cannot be read', fields);
      return undefined;
    });
    if (this.#counting !== counting) return;
    if (rules === undefined) {
      clock.after(retryMs, () => {
        if (this.#counting === counting && counting.usage.wants(injectorConfig, hash))
          void this.#loadRules(counting, injectorConfig, hash);
      });
      return;
    }
    this.#names.addRules(rules);
    counting.usage.setRules(injectorConfig, hash, rules);
    this.#readAgainIfAsked(counting);
  }
}

/** The labels and annotations that anybody has asked for so far; what is asked once is kept. */
class KnownNames implements RelevantNames {
  readonly labels = new Set<string>();
  readonly annotations = new Set<string>();
  readonly statuses = new Set<string>();

  /** How many there are: more than before when something new is asked. */
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
