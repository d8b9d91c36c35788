import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { tagWebhookConfiguration } from '../../api/names.ts';
import { defaultRevision } from '../../api/revision-tag/revision-tag.ts';
import type { StoreChange } from '../../kube/object-store.ts';
import { type ClusterView, injectorConfigOf, mutatingWebhooks, tagOf } from '../cluster-view.ts';
import { foreignSelectors } from '../../selection/foreign-overlap.ts';
import type { TagTargets } from '../tags/tag-targets.ts';

/** Keys of the queue beside the InjectorConfigs, none of which can be called so, and the tags. */
export const otherKeys = {
  validator: '(validator)',
  servingRole: '(serving role)',
  replicas: '(replicas)',
  restarts: '(restarts)',
} as const;

export interface WakeUpsOptions {
  readonly view: ClusterView;
  readonly targets: TagTargets;
  /** Name of the webhook configuration that owns ours. */
  readonly owner?: string | undefined;
  /** Puts a key into the queue, while we lead. */
  readonly add: (key: string) => void;
}

/** What has to be looked at when something has changed. */
export class WakeUps {
  readonly #options: WakeUpsOptions;
  /** The generation of each InjectorConfig and RevisionTag, and whether it is being deleted. */
  readonly #seen = new Map<string, string>();

  constructor(options: WakeUpsOptions) {
    this.#options = options;
  }

  /** Every InjectorConfig and tag. */
  all(): void {
    const { view, add } = this.#options;
    for (const { metadata } of view.configs.list()) add(metadata.name ?? '');
    for (const { metadata } of view.tags.list()) add(tagKey(metadata.name ?? ''));
  }

  /** At the beginning of a leadership: also what has been left behind, and what is nobody's. */
  everything(): void {
    const { view, add } = this.#options;
    for (const key of Object.values(otherKeys)) add(key);
    this.all();
    for (const name of view.names()) add(name);
    for (const name of view.tagNames()) add(tagKey(name));
  }

  /** An InjectorConfig was added, changed or is gone. */
  config(name: string, object: KubernetesObject, isGone: boolean): void {
    this.#options.add(name);
    // A tag waits until where it is to lead is ready; and says so when that is ready no longer.
    this.tagsOf(name, object);
    if (!this.#isNews(name, object, isGone)) return;
    this.all();
    this.#options.add(otherKeys.servingRole);
  }

  /** A RevisionTag was added, changed or is gone. */
  tag(name: string, object: KubernetesObject, isGone: boolean): void {
    const key = tagKey(name);
    this.#options.add(key);
    this.#options.add(otherKeys.restarts);
    if (this.#isNews(key, object, isGone)) this.all();
  }

  /** The tags that lead to an InjectorConfig or are to, those that are gone included; what tag `default` left behind concerns InjectorConfig `default`. */
  tagsOf(name: string, last?: KubernetesObject): void {
    const { view, targets, add } = this.#options;
    const object = view.configs.get(name) ?? last ?? { metadata: { name } };
    const left = name === defaultRevision ? [defaultRevision] : [];
    const named = view.webhooksOf(name).flatMap((webhook) => tagOf(webhook) ?? []);
    for (const tag of new Set([...targets.tagsOf(object), ...named, ...left])) add(tagKey(tag));
  }

  /** Something that we have written has changed, or a webhook configuration of somebody else. */
  owned({ type, object, before }: StoreChange<KubernetesObject>): void {
    const { owner, view, add } = this.#options;
    const seen = before === undefined ? [object] : [object, before];
    const names = new Set(seen.flatMap((each) => injectorConfigOf(each) ?? []));
    for (const name of names) add(name);
    const tags = new Set(seen.flatMap((each) => tagOf(each) ?? []));
    for (const tag of tags) add(tagKey(tag));
    // Pods that follow it are to get something else.
    if (tags.size > 0) add(otherKeys.restarts);
    // Two operator classes may want the one of the default; it is free for the other when the first has gone.
    if (object.kind === mutatingWebhooks.kind && object.metadata.name === tagWebhookConfiguration(defaultRevision)) {
      if (view.configs.get(defaultRevision) !== undefined) add(defaultRevision);
      if (view.tags.get(defaultRevision) !== undefined) add(tagKey(defaultRevision));
    }
    const isOwner = owner !== undefined && object.metadata.name === owner;
    const after = type === 'Deleted' ? undefined : object;
    const isForeign = object.kind === mutatingWebhooks.kind && foreignSelectors(after) !== foreignSelectors(before);
    if (isOwner || isForeign) this.all();
    if (object.kind === 'Role') add(otherKeys.servingRole);
    else if (names.size === 0) add(otherKeys.validator);
  }

  /** Which of two overlapping ones wins depends on all of them; what is only a new status concerns nobody else. */
  #isNews(key: string, { metadata }: KubernetesObject, isGone: boolean): boolean {
    const state = isGone ? 'gone' : `${metadata.generation ?? ''} ${String(metadata.deletionTimestamp)}`;
    const isNews = this.#seen.get(key) !== state;
    if (isGone) this.#seen.delete(key);
    else this.#seen.set(key, state);
    return isNews;
  }
}

const prefix = 'tag/';

/** The key of a tag in the queue: InjectorConfigs, which may be called the same, have no `/` in their names. */
export function tagKey(name: string): string {
  return prefix + name;
}

/** The tag of a key; undefined when it is the key of something else. */
export function tagIn(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}
