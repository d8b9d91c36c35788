import { isDeepStrictEqual } from 'node:util';
import type { DecisionRules } from '../../inject/decide.ts';
import { isIstioFamily, isIstiosNamespace } from '../../selection/foreign-overlap.ts';
import type { PodGroup, PodRecord } from './pod-group.ts';
import type { PodTraits } from './pod-traits.ts';
import type { CompiledSelectors, SelectingWebhook } from '../../selection/selecting-webhook.ts';
import {
  type foreign,
  type FamilyMember,
  judgePod,
  noPods,
  type PodCounts,
  type PodJudgement,
  type PodState,
  stateOf,
  worstState,
} from './judge-pod.ts';

type Labels = Readonly<Record<string, string>>;

/** One pair of selectors of a webhook. */
interface WebhookPair {
  webhook: SelectingWebhook;
  readonly selectors: CompiledSelectors;
}

interface NamespaceUsage {
  /** Undefined until the namespace is listed. Its pods are judged only after that. */
  labels: Labels | undefined;
  readonly groups: Set<PodGroup>;
  /** The pairs whose namespace selector selects the namespace. */
  matching: readonly WebhookPair[];
  /** The nonzero counts by InjectorConfig and tag. Metrics need them without a scan of all pods. */
  readonly totals: Map<string, PodTotals & { readonly counts: PodCounts }>;
  /** Each pod once, in its worst state. */
  readonly counts: PodCounts;
}

/** The rules of a configuration; undefined after they were requested. */
interface RulesRecord {
  readonly rules: DecisionRules | undefined;
  /** The groups that waited for the rules. Some of them may have been deleted or judged again. */
  readonly waiting: Set<PodGroup>;
}

/** The webhooks and InjectorConfigs by which pods are judged. */
interface JudgingObjects {
  /** The webhooks by id. */
  readonly webhooks: ReadonlyMap<string, SelectingWebhook>;
  /** The families of all InjectorConfigs, also of another operator class. */
  readonly families: ReadonlyMap<string, FamilyMember | typeof foreign>;
  /** The webhooks of Istio's injector; the same array as long as they select the same pods. */
  readonly istios: readonly CompiledSelectors[];
}

/** The counts of pods for one InjectorConfig and tag. `tag` is empty if there is none. */
export interface PodTotals {
  readonly injectorConfig: string;
  readonly tag: string;
  readonly counts: Readonly<PodCounts>;
}

/** The pods and namespaces that use one InjectorConfig or tag. */
export interface SubjectUsage {
  readonly counts: Readonly<PodCounts>;
  /** The pods that need the subject, including pods without a state. */
  readonly users: readonly PodGroup[];
  /** The groups of all pods of the subject, with the state of each group. */
  readonly groups: ReadonlyMap<PodGroup, PodState | undefined>;
  /** The namespaces whose labels select the subject, and not Istio's injector. */
  readonly namespaces: readonly string[];
}

export interface PodUsageListener {
  /** Called when the usage of an InjectorConfig or tag ({@link usageKey}) changes. */
  changed?(subject: string): void;
  /** Called when the last pod of a group that an InjectorConfig or tag uses is deleted. */
  left?(subject: string, group: PodGroup): void;
  /** Called once to request the rules of a configuration; see {@link PodUsage.setRules}. */
  rulesNeeded?(injectorConfig: string, hash: string): void;
}

/**
 * Judges pods, and finds the pods and namespaces that use each InjectorConfig and tag. A changed
 * pod takes constant time. After changes of webhooks, scans the namespaces that they select for the
 * groups to judge again. Counts are added up when they are read.
 */
export class PodUsage {
  readonly #listener: PodUsageListener;
  #judging: JudgingObjects = { webhooks: new Map(), families: new Map(), istios: [] };
  #pairs: readonly WebhookPair[] = [];
  /** The rules of published configurations, by `N.<hash8>`. */
  readonly #rules = new Map<string, RulesRecord>();
  readonly #namespaces = new Map<string, NamespaceUsage>();
  /** The groups of each subject, because passes over a tag read its pods every second. */
  readonly #subjects = new Map<string, Set<PodGroup>>();

  constructor(listener: PodUsageListener = {}) {
    this.#listener = listener;
  }

  /** The webhooks and InjectorConfigs of the last {@link update}. */
  get judging(): JudgingObjects {
    return this.#judging;
  }

  /** Returns the counts of each namespace: the nonzero ones by subject, and each pod once. */
  totals(): [namespace: string, totals: Iterable<PodTotals>, counts: Readonly<PodCounts>][] {
    return [...this.#namespaces].map(([name, { totals, counts }]) => [name, totals.values(), counts]);
  }

  /** Returns the groups of pods that use an InjectorConfig or tag. */
  groupsOf(subject: string): Iterable<PodGroup> {
    return this.#subjects.get(subject) ?? [];
  }

  /** Counts the pods and namespaces that use an InjectorConfig or tag, in linear time. */
  subject(subject: string): SubjectUsage {
    const counts = noPods();
    const groups = new Map<PodGroup, PodState | undefined>();
    const users: PodGroup[] = [];
    for (const group of this.groupsOf(subject)) {
      const [, state, isTaken] = subjectsOf(group).find(([each]) => each === subject) ?? [];
      groups.set(group, state);
      if (isTaken !== true) users.push(group);
      if (state !== undefined) counts[state] += group.pods.size;
    }
    const namespaces = [...this.#namespaces]
      .filter(([, { labels = {}, matching }]) => {
        const isTaken = isIstiosNamespace(labels, this.#judging.istios);
        const names = (pair: WebhookPair): boolean =>
          isNaming(pair) && namedBy(pair.webhook).includes(subject) && !(isTaken && isIstioFamily(pair.webhook));
        return matching.some(names);
      })
      .map(([name]) => name);
    return { counts, users, groups, namespaces };
  }

  /** Handles an added, changed or deleted pod, in constant time. */
  setPod(before: PodRecord | undefined, after: PodRecord | undefined): void {
    const [from, to] = [before?.group, after?.group];
    if (after !== undefined && from !== undefined && from === to) {
      from.pods.set(nameOf(after), after);
      return;
    }
    if (before !== undefined && from !== undefined) this.#remove(from, before);
    if (after !== undefined && to !== undefined) this.#add(to, after);
  }

  /** Sets the labels of a namespace (undefined if deleted), in time linear in its pods. */
  setNamespace(name: string, labels: Labels | undefined): void {
    const namespace = this.#namespace(name);
    namespace.labels = labels;
    const matching = labels === undefined ? [] : this.#pairs.filter(({ selectors }) => selectors.namespace(labels));
    for (const pair of [...namespace.matching, ...matching].filter(isNaming)) this.#notify(namedBy(pair.webhook));
    namespace.matching = matching;
    for (const group of namespace.groups) this.#judge(group);
    this.#dropUnused(name, namespace);
  }

  /** Replaces the webhooks and InjectorConfigs, in time linear in the pods of changed webhooks. */
  update(judging: JudgingObjects): void {
    const before = this.#judging;
    const webhooks = changedKeys(before.webhooks, judging.webhooks, Object.is);
    const families = changedKeys(before.families, judging.families, isDeepStrictEqual);
    const areOthersNew = before.istios !== judging.istios;
    if (webhooks.size + families.size === 0 && !areOthersNew) return;
    this.#judging = judging;
    if (areOthersNew) for (const each of judging.webhooks.values()) this.#notify(namedBy(each));
    for (const id of webhooks) {
      for (const each of [before.webhooks.get(id), judging.webhooks.get(id)])
        if (each !== undefined) this.#notify(namedBy(each));
    }
    const isReplaced = (id: string): boolean =>
      webhooks.has(id) && !isMoved(before.webhooks.get(id), judging.webhooks.get(id));
    const isKept = ({ webhook }: WebhookPair): boolean => !isReplaced(webhook.id);
    const added = [...webhooks].filter(isReplaced).flatMap((id) => pairsOf(judging.webhooks.get(id)));
    this.#pairs = [...this.#pairs.filter(isKept), ...added];
    // The namespaces share these pairs.
    for (const pair of this.#pairs) pair.webhook = judging.webhooks.get(pair.webhook.id) ?? pair.webhook;
    for (const namespace of this.#namespaces.values()) {
      const { labels, matching, groups } = namespace;
      if (labels === undefined) continue;
      const more = added.filter(({ selectors }) => selectors.namespace(labels));
      const isSelected = more.length > 0 || matching.some(({ webhook }) => webhooks.has(webhook.id));
      if (isSelected && (more.length > 0 || !matching.every(isKept))) {
        namespace.matching = [...matching.filter(isKept), ...more];
      }
      for (const group of isSelected || areOthersNew || families.size > 0 ? groups : []) {
        const isAffected =
          areOthersNew ||
          group.judgements.some(({ selectedBy }) => selectedBy !== undefined && webhooks.has(selectedBy.id)) ||
          more.some(({ selectors }) => selectors.pod(group.traits.labels)) ||
          [...families].some((name) => group.traits.injectedBy.includes(name));
        if (isAffected) this.#judge(group);
      }
    }
  }

  /**
   * Sets the rules of a published configuration, and judges the pods that wait for them. Without
   * rules, the pods that wait request them again.
   */
  setRules(injectorConfig: string, hash: string, rules: DecisionRules | undefined): void {
    const key = `${injectorConfig}.${hash}`;
    const published = [...this.#judging.webhooks.values()].flatMap((each) => [each, each.canary ?? []].flat());
    const live = new Set(published.map(rulesKey));
    for (const known of this.#rules.keys()) if (!live.has(known)) this.#rules.delete(known);
    const { waiting = [] } = this.#rules.get(key) ?? {};
    if (rules === undefined) this.#rules.delete(key);
    else this.#rules.set(key, { rules, waiting: new Set() });
    for (const group of waiting) if (group.pods.size > 0) this.#judge(group);
  }

  #add(group: PodGroup, pod: PodRecord): void {
    if (group.pods.has(nameOf(pod))) return;
    group.pods.set(nameOf(pod), pod);
    if (group.pods.size > 1) {
      this.#count(group, 1);
      this.#notify(subjectNames(group));
      return;
    }
    this.#namespace(group.traits.namespace).groups.add(group);
    this.#judge(group);
  }

  #remove(group: PodGroup, pod: PodRecord): void {
    if (!group.pods.delete(nameOf(pod))) return;
    this.#count(group, -1);
    const subjects = subjectNames(group);
    if (group.pods.size > 0) {
      this.#notify(subjects);
      return;
    }
    this.#setJudgements(group, []);
    for (const subject of subjects) this.#listener.left?.(subject, group);
    const namespace = this.#namespace(group.traits.namespace);
    namespace.groups.delete(group);
    this.#dropUnused(group.traits.namespace, namespace);
  }

  /** Judges a pod with these traits, which need not exist; none before its namespace is listed. */
  judge(traits: PodTraits): PodJudgement[] {
    const { labels, matching = [] } = this.#namespaces.get(traits.namespace) ?? {};
    const selecting = new Set<SelectingWebhook>();
    for (const { webhook, selectors } of matching) if (selectors.pod(traits.labels)) selecting.add(webhook);
    const sources = {
      familyOf: (name: string) => this.#judging.families.get(name),
      rulesOf: (webhook: SelectingWebhook) => this.#rules.get(rulesKey(webhook))?.rules,
    };
    if (labels === undefined) return [];
    const isIstios = this.#judging.istios.some((each) => each.namespace(labels) && each.pod(traits.labels));
    return judgePod(traits, selecting, sources, isIstios);
  }

  #judge(group: PodGroup): void {
    this.#setJudgements(group, this.judge(group.traits));
    for (const judgement of group.judgements) {
      const { reason, selectedBy } = judgement;
      if (reason !== 'RulesUnknown' || selectedBy === undefined) continue;
      const known = this.#rules.get(rulesKey(selectedBy));
      if (known === undefined) {
        this.#rules.set(rulesKey(selectedBy), { rules: undefined, waiting: new Set([group]) });
        this.#listener.rulesNeeded?.(selectedBy.injectorConfig, selectedBy.hash ?? '');
      } else known.waiting.add(group);
    }
  }

  #setJudgements(group: PodGroup, judgements: readonly PodJudgement[]): void {
    const before = subjectNames(group);
    for (const subject of before) {
      const groups = this.#subjects.get(subject);
      groups?.delete(group);
      if (groups?.size === 0) this.#subjects.delete(subject);
    }
    this.#count(group, -group.pods.size);
    group.judgements = judgements;
    this.#count(group, group.pods.size);
    const after = subjectNames(group);
    for (const subject of after) {
      const groups = this.#subjects.get(subject);
      if (groups === undefined) this.#subjects.set(subject, new Set([group]));
      else groups.add(group);
    }
    this.#notify([...before, ...after]);
  }

  #count(group: PodGroup, pods: number): void {
    const { totals, counts } = this.#namespace(group.traits.namespace);
    const worst = worstState(group.judgements);
    if (worst !== undefined) counts[worst] += pods;
    for (const judgement of group.judgements) {
      const state = stateOf(judgement);
      if (state === undefined || pods === 0) continue;
      const { injectorConfig, selectedBy: { tag = '' } = {} } = judgement;
      const key = `${injectorConfig} ${tag}`;
      const total = totals.get(key) ?? { injectorConfig, tag, counts: noPods() };
      total.counts[state] += pods;
      const { current, stale, missing } = total.counts;
      if (current + stale + missing > 0) totals.set(key, total);
      else totals.delete(key);
    }
  }

  #notify(subjects: readonly string[]): void {
    for (const subject of subjects) this.#listener.changed?.(subject);
  }

  #namespace(name: string): NamespaceUsage {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const namespace = {
      labels: undefined,
      groups: new Set<PodGroup>(),
      matching: [],
      totals: new Map(),
      counts: noPods(),
    };
    this.#namespaces.set(name, namespace);
    return namespace;
  }

  #dropUnused(name: string, { labels, groups }: NamespaceUsage): void {
    if (labels === undefined && groups.size === 0) this.#namespaces.delete(name);
  }
}

/** Returns the key of an InjectorConfig or tag, as `Kind/name`. */
export function usageKey(kind: 'InjectorConfig' | 'RevisionTag', name: string): string {
  return `${kind}/${name}`;
}

function nameOf(pod: PodRecord): string {
  return pod.metadata.name ?? '';
}

/** Returns the keys of values that were added, changed or removed. */
function changedKeys<Value>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
  isSame: (one: unknown, other: unknown) => boolean,
): Set<string> {
  return new Set([...before.keys(), ...after.keys()].filter((key) => !isSame(before.get(key), after.get(key))));
}

function pairsOf(webhook: SelectingWebhook | undefined): WebhookPair[] {
  return webhook === undefined ? [] : webhook.selectors.map((selectors) => ({ webhook, selectors }));
}

/** Reports whether a webhook selects the same pods as before, and no other webhook in its place. */
function isMoved(before: SelectingWebhook | undefined, after: SelectingWebhook | undefined): boolean {
  // Of two overlapping webhooks, one that names a configuration comes first.
  return before?.selectors === after?.selectors && (before?.hash === undefined) === (after?.hash === undefined);
}

function rulesKey({ injectorConfig, hash = '' }: Pick<SelectingWebhook, 'injectorConfig' | 'hash'>): string {
  return `${injectorConfig}.${hash}`;
}

/**
 * Returns the InjectorConfigs that injected the pods of a group and that select them, and the tags,
 * with the state of the pods.
 */
function subjectsOf({ judgements }: PodGroup): [subject: string, state: PodState | undefined, isTaken: boolean][] {
  return judgements.flatMap((judgement) => {
    const { injectorConfig, selectedBy, isUser, isTaken = false } = judgement;
    if (!isUser) return [];
    const state = stateOf(judgement);
    const subjects: ReturnType<typeof subjectsOf> = [[usageKey('InjectorConfig', injectorConfig), state, isTaken]];
    if (selectedBy !== undefined && selectedBy.injectorConfig !== injectorConfig) {
      subjects.push([usageKey('InjectorConfig', selectedBy.injectorConfig), undefined, isTaken]);
    }
    if (selectedBy?.tag !== undefined) subjects.push([usageKey('RevisionTag', selectedBy.tag), state, isTaken]);
    return subjects;
  });
}

function subjectNames(group: PodGroup): string[] {
  return subjectsOf(group).map(([subject]) => subject);
}

/** Reports whether a namespace that a pair selects counts for the subjects of the webhook. */
function isNaming({ selectors }: WebhookPair): boolean {
  return selectors.isByNamespace;
}

/** Returns the InjectorConfigs and the tag that a namespace uses if a webhook selects it. */
export function namedBy({ injectorConfig, tag, canary }: SelectingWebhook): string[] {
  const configs = new Set([injectorConfig, ...(canary === undefined ? [] : [canary.injectorConfig])]);
  const subjects = [...configs].map((name) => usageKey('InjectorConfig', name));
  return tag === undefined ? subjects : [...subjects, usageKey('RevisionTag', tag)];
}
