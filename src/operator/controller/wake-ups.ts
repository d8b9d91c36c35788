import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { tagWebhookConfiguration } from '../../api/names.ts';
import { defaultRevision } from '../../api/revision-tag/revision-tag.ts';
import type { StoreChange } from '../../kube/object-store.ts';
import { type ClusterView, injectorConfigOf, mutatingWebhooks, tagOf } from '../cluster-view.ts';
import { possibleModes } from '../configurations/native-mode.ts';
import { foreignSelectors } from '../../selection/foreign-overlap.ts';
import type { TagTargets } from '../tags/tag-targets.ts';

/** The queue keys of other reconcilers. No InjectorConfig can have such a name. */
export const otherKeys = {
  validator: '(validator)',
  servingRole: '(serving role)',
  replicas: '(replicas)',
  restarts: '(restarts)',
  heldPods: '(held pods)',
} as const;

export type ObjectChange = StoreChange<KubernetesObject>;

export interface WakeUpsOptions {
  readonly view: ClusterView;
  readonly targets: TagTargets;
  /** The name of the webhook configuration that owns our webhook configurations. */
  readonly owner?: string | undefined;
  /** Adds a key to the queue; does nothing unless this process leads. */
  readonly add: (key: string) => void;
}

/** Queues the keys that depend on a change. */
export class WakeUps {
  readonly #options: WakeUpsOptions;
  /** The modes of native sidecars that the kubelets allow. */
  #possible: string | undefined;

  constructor(options: WakeUpsOptions) {
    this.#options = options;
  }

  all(): void {
    const { view, add } = this.#options;
    for (const { metadata } of view.configs.list()) add(metadata.name ?? '');
    for (const { metadata } of view.tags.list()) add(tagKey(metadata.name ?? ''));
  }

  /** Handles a change of the kubelet versions. Passes need it only if the possible modes change. */
  nodes(): void {
    const { view, add } = this.#options;
    const possible = possibleModes(view.kubelets());
    if (possible === this.#possible) return;
    this.#possible = possible;
    for (const { metadata } of view.configs.list()) add(metadata.name ?? '');
  }

  /** Queues all keys at the start of a leadership, including those of deleted objects. */
  everything(): void {
    const { view, add } = this.#options;
    for (const key of Object.values(otherKeys)) add(key);
    this.all();
    for (const name of view.names()) add(name);
    for (const name of view.tagNames()) add(tagKey(name));
  }

  /** Handles the addition, change or deletion of an InjectorConfig. */
  config(change: ObjectChange): void {
    const { name = '' } = change.object.metadata;
    this.#options.add(name);
    // The condition of a tag depends on the readiness of its target.
    this.tagsOf(name, change.object);
    if (!mayAffectOverlaps(change)) return;
    this.all();
    this.#options.add(otherKeys.servingRole);
  }

  tag(change: ObjectChange): void {
    this.#options.add(tagKey(change.object.metadata.name ?? ''));
    this.#options.add(otherKeys.restarts);
    if (mayAffectOverlaps(change)) this.all();
  }

  /** Queues the tags, even deleted tags, whose current or desired target is an InjectorConfig. */
  tagsOf(name: string, last?: KubernetesObject): void {
    const { view, targets, add } = this.#options;
    const object = view.configs.get(name) ?? last ?? { metadata: { name } };
    // A deleted tag `default` may have left a webhook that InjectorConfig `default` takes over.
    const related = name === defaultRevision ? [defaultRevision] : [];
    const named = view.webhooksOf(name).flatMap((webhook) => tagOf(webhook) ?? []);
    for (const tag of new Set([...targets.tagsOf(object), ...named, ...related])) add(tagKey(tag));
  }

  /** Handles a change of an owned object, or of any MutatingWebhookConfiguration. */
  owned({ type, object, before }: ObjectChange): void {
    const { owner, view, add } = this.#options;
    const seen = before === undefined ? [object] : [object, before];
    const names = new Set(seen.flatMap((each) => injectorConfigOf(each) ?? []));
    for (const name of names) add(name);
    const tags = new Set(seen.flatMap((each) => tagOf(each) ?? []));
    for (const tag of tags) add(tagKey(tag));
    // The pods of the tag may have become stale.
    if (tags.size > 0) add(otherKeys.restarts);
    // Another operator class may have deleted the webhook of the default revision.
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
}

/** Reports whether an object was created or deleted, or its spec or deletionTimestamp changed. */
function mayAffectOverlaps({ type, object: { metadata }, before }: ObjectChange): boolean {
  if (type === 'Deleted' || before === undefined) return true;
  const { generation, deletionTimestamp } = before.metadata;
  return metadata.generation !== generation || metadata.deletionTimestamp !== deletionTimestamp;
}

const prefix = 'tag/';

/** Returns the queue key of a tag. Names of InjectorConfigs contain no `/`, so keys are unique. */
export function tagKey(name: string): string {
  return prefix + name;
}

/** Returns the tag that a queue key names; undefined for the key of another object. */
export function tagIn(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}
