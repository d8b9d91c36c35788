import { isDeepStrictEqual } from 'node:util';
import type { DecisionRules } from '../../inject/decide.ts';
import type { WebhookKeys } from '../../api/injector-config/webhook-keys.ts';
import type { PodGroup, PodRecord } from './pod-group.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { labelTexts, SelectingWebhookIndex } from '../../selection/selecting-webhook-index.ts';
import {
  foreign,
  type FamilyMember,
  judgePod,
  familyMember,
  type PodCounts,
  type PodJudgement,
  type PodState,
} from './judge-pod.ts';
import { noPods, usageKey, UsageSubject } from './usage-subject.ts';

type Labels = Readonly<Record<string, string>>;

interface NamespaceUsage {
  readonly name: string;
  /** Undefined until the namespace is listed. Its pods are judged only after that. */
  labels: Labels | undefined;
  readonly groups: Set<PodGroup>;
  readonly counts: PodCounts;
  named: readonly SelectingWebhook[];
}

export interface PodUsageListener {
  /** Called when the usage of an InjectorConfig or tag ({@link usageKey}) changes. */
  changed?(subject: string): void;
  /** Called when the last pod of a group that an InjectorConfig or tag uses is deleted. */
  left?(subject: string, group: PodGroup): void;
  /** Called once to request the rules of a configuration; see {@link PodUsage.setRules}. */
  rulesNeeded?(injectorConfig: string, hash: string): void;
}

/** The counts of pods for one InjectorConfig and tag. `tag` is empty if there is none. */
export interface PodTotals {
  readonly injectorConfig: string;
  readonly tag: string;
  readonly counts: Readonly<PodCounts>;
}

/**
 * Counts the pods and namespaces that use each InjectorConfig and tag, and current, stale and
 * missing pods. Updates are incremental: linear in the affected pods, constant for one pod.
 */
export class PodUsage {
  readonly #listener: PodUsageListener;
  readonly #webhooks = new SelectingWebhookIndex();
  readonly #families = new Map<string, FamilyMember | typeof foreign>();
  readonly #rules = new Map<string, DecisionRules>();
  readonly #namespaces = new Map<string, NamespaceUsage>();
  readonly #subjects = new Map<string, UsageSubject>();
  readonly #totals = new Map<string, PodTotals & { readonly counts: PodCounts }>();
  readonly #groups = new Set<PodGroup>();
  /** Indexes that find the groups and namespaces that a change affects. */
  readonly #groupsByLabel = new MultiMap<string, PodGroup>();
  readonly #groupsByWebhook = new MultiMap<string, PodGroup>();
  readonly #groupsByCarried = new MultiMap<string, PodGroup>();
  readonly #groupsByRules = new MultiMap<string, PodGroup>();
  readonly #namespacesByLabel = new MultiMap<string, NamespaceUsage>();
  readonly #namespacesByWebhook = new MultiMap<string, NamespaceUsage>();

  constructor(listener: PodUsageListener = {}) {
    this.#listener = listener;
  }

  /** Returns the usage of a subject; undefined if nothing uses the subject. */
  subject(name: string): UsageSubject | undefined {
    return this.#subjects.get(name);
  }

  subjects(): string[] {
    return [...this.#subjects.keys()];
  }

  /** Returns the nonzero counts by InjectorConfig and tag. */
  totals(): readonly PodTotals[] {
    return [...this.#totals.values()];
  }

  /** Returns the nonzero counts by namespace. */
  *namespaces(): Iterable<readonly [name: string, counts: Readonly<PodCounts>]> {
    for (const { name, counts } of this.#namespaces.values()) {
      if (counts.current + counts.stale + counts.missing > 0) yield [name, counts];
    }
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
    for (const label of labelTexts(namespace.labels ?? {})) this.#namespacesByLabel.delete(label, namespace);
    namespace.labels = labels;
    for (const label of labelTexts(labels ?? {})) this.#namespacesByLabel.add(label, namespace);
    this.#updateNamed(namespace);
    for (const group of namespace.groups) this.#judge(group);
    this.#dropUnused(namespace);
  }

  /** Sets a webhook (undefined if deleted). Linear in the pods that it selects now or selected. */
  setWebhook(id: string, selectingWebhook: SelectingWebhook | undefined): void {
    const before = this.#webhooks.get(id);
    if (before === selectingWebhook) return;
    const groups = new Set(this.#groupsByWebhook.get(id));
    const namespaces = new Set(this.#namespacesByWebhook.get(id));
    if (selectingWebhook === undefined) this.#webhooks.delete(id);
    else this.#webhooks.set(selectingWebhook);
    const isKnown =
      selectingWebhook?.selectors === before?.selectors &&
      (selectingWebhook?.hash === undefined) === (before?.hash === undefined);
    if (selectingWebhook !== undefined && !isKnown) this.#reach(selectingWebhook, groups, namespaces);
    for (const namespace of namespaces) this.#updateNamed(namespace);
    for (const group of groups) this.#judge(group);
  }

  /** Sets the keys (undefined if deleted) and revision of an InjectorConfig, linear in its pods. */
  setFamily(injectorConfig: string, keys: WebhookKeys | typeof foreign | undefined, revision = injectorConfig): void {
    const member = keys === undefined || keys === foreign ? keys : familyMember(keys, revision);
    if (isDeepStrictEqual(this.#families.get(injectorConfig), member)) return;
    if (member === undefined) this.#families.delete(injectorConfig);
    else this.#families.set(injectorConfig, member);
    for (const group of [...this.#groupsByCarried.get(injectorConfig)]) this.#judge(group);
  }

  /** Sets the rules of a published configuration, and judges the pods that wait for them. */
  setRules(injectorConfig: string, hash: string, rules: DecisionRules): void {
    const key = `${injectorConfig}.${hash}`;
    const published = this.#webhooks
      .all()
      .flatMap((each) => [each, ...(each.canary === undefined ? [] : [each.canary])]);
    const live = new Set(published.map((each) => `${each.injectorConfig}.${each.hash ?? ''}`));
    for (const known of this.#rules.keys()) if (!live.has(known)) this.#rules.delete(known);
    this.#rules.set(key, rules);
    for (const group of [...this.#groupsByRules.get(key)]) this.#judge(group);
  }

  /** Reports whether any pod waits for these rules. */
  needsRules(injectorConfig: string, hash: string): boolean {
    return this.#groupsByRules.has(`${injectorConfig}.${hash}`);
  }

  /** Collects the groups and namespaces with a label that the new selectors require. */
  #reach(selectingWebhook: SelectingWebhook, groups: Set<PodGroup>, namespaces: Set<NamespaceUsage>): void {
    for (const { anchor } of selectingWebhook.selectors) {
      if (anchor === undefined) for (const group of this.#groups) groups.add(group);
      for (const label of anchor?.side === 'pod' ? anchor.labels : []) {
        for (const group of this.#groupsByLabel.get(label)) groups.add(group);
      }
      for (const label of anchor?.side === 'namespace' ? anchor.labels : []) {
        for (const namespace of this.#namespacesByLabel.get(label)) {
          namespaces.add(namespace);
          for (const group of namespace.groups) groups.add(group);
        }
      }
    }
  }

  #add(group: PodGroup, pod: PodRecord): void {
    if (group.pods.has(nameOf(pod))) return;
    group.pods.set(nameOf(pod), pod);
    if (group.pods.size > 1) {
      this.#count(group, 1);
      return;
    }
    const { namespace, labels } = group.traits;
    this.#groups.add(group);
    this.#namespace(namespace).groups.add(group);
    for (const label of labelTexts(labels)) this.#groupsByLabel.add(label, group);
    for (const name of group.carried) this.#groupsByCarried.add(name, group);
    this.#judge(group);
  }

  #remove(group: PodGroup, pod: PodRecord): void {
    if (!group.pods.has(nameOf(pod))) return;
    if (group.pods.size > 1) {
      group.pods.delete(nameOf(pod));
      this.#count(group, -1);
      return;
    }
    const subjects = group.judgements.flatMap((judgement) => subjectsOf(judgement));
    this.#move(group, -1);
    group.judgements = [];
    group.pods.delete(nameOf(pod));
    for (const [subject] of subjects) this.#listener.left?.(subject, group);
    const namespace = this.#namespace(group.traits.namespace);
    this.#groups.delete(group);
    namespace.groups.delete(group);
    for (const label of labelTexts(group.traits.labels)) this.#groupsByLabel.delete(label, group);
    for (const name of group.carried) this.#groupsByCarried.delete(name, group);
    this.#dropUnused(namespace);
  }

  #judge(group: PodGroup): void {
    const { labels } = this.#namespace(group.traits.namespace);
    this.#move(group, -1);
    group.judgements =
      labels === undefined
        ? []
        : judgePod(group.traits, labels, {
            webhooks: this.#webhooks,
            familyOf: (name) => this.#families.get(name),
            rulesOf: ({ injectorConfig, hash = '' }) => this.#rules.get(`${injectorConfig}.${hash}`),
          });
    this.#move(group, 1);
  }

  /** Adds (1) or removes (-1) the judgements of a group. */
  #move(group: PodGroup, by: 1 | -1): void {
    for (const judgement of group.judgements) {
      for (const [name, state] of subjectsOf(judgement)) {
        const subject = this.#subject(name);
        subject.move(group, state, by);
        if (subject.isUnused) this.#subjects.delete(name);
        this.#listener.changed?.(name);
      }
      const { selectedBy, reason, injectorConfig } = judgement;
      if (selectedBy !== undefined) {
        if (by === 1) this.#groupsByWebhook.add(selectedBy.id, group);
        else this.#groupsByWebhook.delete(selectedBy.id, group);
      }
      if (reason === 'RulesUnknown') this.#updateNeeded(`${injectorConfig}.${selectedBy?.hash ?? ''}`, group, by);
      this.#addToTotals(group, judgement, by * group.pods.size);
    }
  }

  /** Changes the number of pods in a group whose judgements stay the same. */
  #count(group: PodGroup, pods: number): void {
    for (const judgement of group.judgements) {
      for (const [name, state] of subjectsOf(judgement)) {
        this.#subject(name).count(state, pods);
        this.#listener.changed?.(name);
      }
      this.#addToTotals(group, judgement, pods);
    }
  }

  #addToTotals(group: PodGroup, judgement: PodJudgement, pods: number): void {
    const state = stateOf(judgement);
    if (state === undefined) return;
    this.#namespace(group.traits.namespace).counts[state] += pods;
    const { injectorConfig } = judgement;
    const tag = judgement.selectedBy?.tag ?? '';
    const key = `${injectorConfig} ${tag}`;
    const total = this.#totals.get(key) ?? { injectorConfig, tag, counts: noPods() };
    total.counts[state] += pods;
    const { current, stale, missing } = total.counts;
    if (current + stale + missing > 0) this.#totals.set(key, total);
    else this.#totals.delete(key);
  }

  #updateNeeded(rules: string, group: PodGroup, by: 1 | -1): void {
    if (by === -1) {
      this.#groupsByRules.delete(rules, group);
      return;
    }
    const isNew = !this.#groupsByRules.has(rules);
    this.#groupsByRules.add(rules, group);
    const [injectorConfig = '', hash = ''] = rules.split('.');
    if (isNew) this.#listener.rulesNeeded?.(injectorConfig, hash);
  }

  /** Updates the webhooks that the labels of a namespace select. */
  #updateNamed(namespace: NamespaceUsage): void {
    const { name, labels } = namespace;
    const move = (by: 1 | -1): void => {
      for (const selectingWebhook of namespace.named) {
        for (const each of namedBy(selectingWebhook)) {
          const subject = this.#subject(each);
          subject.moveNamespace(name, by);
          if (subject.isUnused) this.#subjects.delete(each);
          this.#listener.changed?.(each);
        }
        if (by === 1) this.#namespacesByWebhook.add(selectingWebhook.id, namespace);
        else this.#namespacesByWebhook.delete(selectingWebhook.id, namespace);
      }
    };
    move(-1);
    namespace.named = labels === undefined ? [] : this.#webhooks.namedBy(labels);
    move(1);
  }

  #subject(name: string): UsageSubject {
    const subject = this.#subjects.get(name) ?? new UsageSubject();
    this.#subjects.set(name, subject);
    return subject;
  }

  #namespace(name: string): NamespaceUsage {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const namespace = { name, labels: undefined, groups: new Set<PodGroup>(), counts: noPods(), named: [] };
    this.#namespaces.set(name, namespace);
    return namespace;
  }

  #dropUnused({ name, labels, groups }: NamespaceUsage): void {
    if (labels === undefined && groups.size === 0) this.#namespaces.delete(name);
  }
}

function nameOf(pod: PodRecord): string {
  return pod.metadata.name ?? '';
}

class MultiMap<K, V> {
  readonly #values = new Map<K, Set<V>>();

  get(key: K): Iterable<V> {
    return this.#values.get(key) ?? [];
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  add(key: K, value: V): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  delete(key: K, value: V): void {
    const values = this.#values.get(key);
    values?.delete(value);
    if (values?.size === 0) this.#values.delete(key);
  }
}

/** Returns the state of a judgement if this state is counted. */
function stateOf({ state }: PodJudgement): PodState | undefined {
  return state === 'none' || state === 'undecided' ? undefined : state;
}

/** Returns the InjectorConfigs that injected the pod and that select it, and the tag. */
function subjectsOf(judgement: PodJudgement): [subject: string, state: PodState | undefined][] {
  const { injectorConfig, selectedBy, isUser } = judgement;
  if (!isUser) return [];
  const state = stateOf(judgement);
  const subjects: [string, PodState | undefined][] = [[usageKey('InjectorConfig', injectorConfig), state]];
  if (selectedBy !== undefined && selectedBy.injectorConfig !== injectorConfig) {
    subjects.push([usageKey('InjectorConfig', selectedBy.injectorConfig), undefined]);
  }
  if (selectedBy?.tag !== undefined) subjects.push([usageKey('RevisionTag', selectedBy.tag), state]);
  return subjects;
}

/** Returns the InjectorConfigs and the tag that a namespace uses if a webhook selects it. */
function namedBy({ injectorConfig, tag, canary }: SelectingWebhook): string[] {
  const configs = new Set([injectorConfig, ...(canary === undefined ? [] : [canary.injectorConfig])]);
  const subjects = [...configs].map((name) => usageKey('InjectorConfig', name));
  return tag === undefined ? subjects : [...subjects, usageKey('RevisionTag', tag)];
}
