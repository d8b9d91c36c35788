import type { InjectorConfig } from '../../api/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { labelNames } from '../../api/labels.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag.ts';
import { tagProbeSubject, tagWebhookConfiguration as webhookName, type TagRollout } from '../../api/names.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { Clock } from '../../kube/ports.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import { tagWebhookConfiguration } from '../../manifests/tag-webhook-configuration.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { InstallGate } from '../install-gate.ts';
import { nameTaken } from '../name-taken.ts';
import { leaveNarrowed } from '../narrowing.ts';
import type { OwnedObjects, WriteOutcome } from '../owned-objects.ts';
import type { Finding } from '../revision-status.ts';
import type { PublishedRevision } from './published-revisions.ts';
import { RefusedWebhooks, type RefusedWebhook } from './refused-webhooks.ts';

/** Where a tag is to lead. */
export interface TagTarget {
  readonly tag: RevisionTag;
  readonly config: InjectorConfig;
  readonly published: PublishedRevision;
  /** Absent: everybody is led there. */
  readonly rollout?: TagRollout | undefined;
  readonly context: ManifestContext;
}

/** A name that another operator class has becomes free with an event; in case it is missed, look again. Milliseconds. */
const takenRetryMs = 30_000;

/** The webhook configuration of a tag, in the cluster. */
export class TagWebhook {
  readonly #view: ClusterView;
  readonly #owned: OwnedObjects;
  readonly #gate: InstallGate;
  readonly #refused: RefusedWebhooks;

  constructor(view: ClusterView, owned: OwnedObjects, gate: InstallGate, clock: Pick<Clock, 'monotonic'>) {
    this.#view = view;
    this.#owned = owned;
    this.#gate = gate;
    this.#refused = new RefusedWebhooks(clock);
  }

  /** What is in force under the name of a tag's webhook; for `default` it may be InjectorConfig `default`'s own. */
  live(tag: string): KubernetesObject | undefined {
    return this.#view.mutatingWebhooks.get(webhookName(tag));
  }

  /** Whether the webhook may lead there: tried out where it has not led before. What keeps it from it, with the milliseconds to wait. */
  async tryOut(target: TagTarget, signal: AbortSignal): Promise<{ finding: Finding; retryAfter: number } | undefined> {
    const { tag, config, published, context } = target;
    const { name } = tag.metadata;
    const taken = nameTaken(this.#view, webhookName(name));
    if (taken !== undefined) return { finding: taken, retryAfter: takenRetryMs };
    await this.#gate.sweep(tagProbeSubject(name), signal);
    const { object: desired } = this.#desired(target);
    return this.#gate.check({ tag: name, config, ...published, context, desired, live: this.live(name) }, signal);
  }

  /** Whether it has been tried out. */
  isOpen(target: TagTarget): boolean {
    const { name } = target.tag.metadata;
    if (this.#view.otherClassAt(webhookName(name)) !== undefined) return false;
    return this.#gate.isOpen(tagProbeSubject(name), this.#desired(target).object, this.live(name));
  }

  /** Writes it; the one write by which a tag is moved. A refusal is what the API server finds invalid in it, now or a moment ago. */
  async apply(
    target: TagTarget,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<{ isDeferred: boolean; narrowed: Finding; refusal?: RefusedWebhook }> {
    const { name } = target.tag.metadata;
    const { object, finding: narrowed } = this.#desired(target);
    const known = this.#refused.find(name, object);
    if (known !== undefined) return { isDeferred: false, narrowed, refusal: known };
    try {
      const { outcome } = await this.#owned.apply(object, into, signal);
      if (outcome !== 'Deferred') this.#refused.forget(name);
      return { isDeferred: outcome === 'Deferred', narrowed };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 422) throw error;
      return { isDeferred: false, narrowed, refusal: this.#refused.remember(name, object, error.message) };
    }
  }

  /**
   * Takes it away, and the twin of a trial that was left, whatever they lead to. What InjectorConfig `default` has under that name, without the
   * tag's label, is not the tag's.
   */
  async remove(tag: string, signal: AbortSignal): Promise<boolean> {
    this.#refused.forget(tag);
    this.#gate.forget(tagProbeSubject(tag));
    await this.#gate.sweep(tagProbeSubject(tag), signal);
    const live = this.live(tag);
    if (live === undefined || !this.#isOf(live, tag)) return false;
    await this.#owned.remove(live, signal);
    return true;
  }

  #isOf(live: KubernetesObject, tag: string): boolean {
    const label = live.metadata.labels?.[labelNames.tag];
    return this.#view.isOurs(live) && (label === tag || (label === undefined && tag !== defaultRevision));
  }

  #desired({ tag, config, published, rollout, context }: TagTarget): ReturnType<typeof leaveNarrowed> {
    return leaveNarrowed(
      tagWebhookConfiguration({ tag, config, ...published, rollout }, context),
      this.live(tag.metadata.name),
      config.spec.webhook.toleratedManagers,
    );
  }
}
