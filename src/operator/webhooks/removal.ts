import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock } from '../../kube/ports.ts';
import type { ObjectKey } from '../../kube/request-options.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { OwnedObjects } from '../controller/owned-objects.ts';
import type { WebhookWriter } from './webhook-writer.ts';
import { fieldManager } from '../settings.ts';

/** How long what a webhook needs stays after the webhook: API servers learn of its removal by a watch. Milliseconds. */
const servingGraceMs = 2000;

/**
 * Takes away everything of an InjectorConfig so that no pod is ever blocked: the webhook configuration first, and what answers it only when
 * no API server can be calling it any more.
 */
export class Removal {
  readonly #view: ClusterView;
  readonly #owned: OwnedObjects;
  readonly #writer: Pick<WebhookWriter, 'remove'>;
  readonly #clock: Clock;
  /** When the webhook was first seen to be gone. */
  readonly #goneSince = new Map<string, number>();

  constructor(view: ClusterView, owned: OwnedObjects, writer: Pick<WebhookWriter, 'remove'>, clock: Clock) {
    this.#writer = writer;
    this.#view = view;
    this.#owned = owned;
    this.#clock = clock;
  }

  /**
   * Does what can be done now; returns the milliseconds until the next step, or undefined when nothing is left.
   * Rejects with {@link RemovalBlockedError} while finalizers of others hold what we have deleted.
   */
  async step(name: string, signal: AbortSignal): Promise<number | undefined> {
    const { labelled, keys } = this.#known(name);
    const webhooks = await this.#webhooks(name, signal);
    if (webhooks.length > 0) {
      this.#goneSince.delete(name);
      await this.#remove(name, webhooks, signal);
      // The view tells when it is gone; in case it does not, look again.
      return servingGraceMs;
    }
    // A tag's pass brings the workloads of its canary back to stable, and wakes us; until then they need what answers here.
    if (this.#view.rolloutsTo(name).length > 0) {
      this.#goneSince.delete(name);
      return servingGraceMs;
    }
    const others = keys.filter((key) => !isWebhook(key));
    const objects = [...labelled, ...(await this.#unlabelled(name, others, signal))];
    if (objects.length === 0) {
      this.#goneSince.delete(name);
      return undefined;
    }
    const now = this.#clock.monotonic();
    const since = this.#goneSince.get(name) ?? now;
    this.#goneSince.set(name, since);
    const wait = since + servingGraceMs - now;
    if (wait > 0) return wait;
    await this.#remove(name, objects, signal);
    return servingGraceMs;
  }

  /**
   * Takes away the webhooks alone, the probe webhook with them: what answers them stays, and nobody is blocked. True when there was anything to do.
   * Rejects with {@link RemovalBlockedError} as {@link step} does.
   */
  async withdraw(name: string, signal: AbortSignal): Promise<boolean> {
    this.#goneSince.delete(name);
    const webhooks = await this.#webhooks(name, signal);
    await this.#remove(name, webhooks, signal);
    return webhooks.length > 0;
  }

  /** What carries the label of an InjectorConfig, and the fixed names under which there is nothing with that label. */
  #known(name: string): { labelled: KubernetesObject[]; keys: ObjectKey[] } {
    const labelled = this.#view.belongingTo(name);
    const keys = this.#view.namedAfter(name).filter((key) => !labelled.some((object) => isSame(object, key)));
    return { labelled, keys };
  }

  async #webhooks(name: string, signal: AbortSignal): Promise<KubernetesObject[]> {
    const { labelled, keys } = this.#known(name);
    return [...labelled.filter(isWebhook), ...(await this.#unlabelled(name, keys.filter(isWebhook), signal))];
  }

  /** What has lost its labels while nobody was running: no watch tells of it, but a webhook blocks pods all the same. */
  async #unlabelled(name: string, keys: readonly ObjectKey[], signal: AbortSignal): Promise<KubernetesObject[]> {
    const found: KubernetesObject[] = [];
    for (const key of keys) {
      const object = isWebhook(key) ? this.#view.live(key) : await this.#owned.read(key, signal);
      if (object !== undefined && this.#view.isOwnedByName(object, name, fieldManager)) found.push(object);
    }
    return found;
  }

  async #remove(name: string, objects: readonly KubernetesObject[], signal: AbortSignal): Promise<void> {
    const held: KubernetesObject[] = [];
    for (const object of objects) {
      const writer = isWebhook(object) ? this.#writer : this.#owned;
      const left = await writer.remove(object, signal);
      if (left !== undefined && (left.metadata.finalizers ?? []).length > 0) held.push(left);
    }
    if (held.length > 0) throw new RemovalBlockedError(name, held);
  }
}

function isWebhook({ kind }: { kind: string }): boolean {
  return kind === 'MutatingWebhookConfiguration';
}

function isSame(one: KubernetesObject, other: ObjectKey): boolean {
  return one.kind === other.kind && one.metadata.name === other.metadata.name;
}

/** Objects of ours have been deleted and do not go, because finalizers of others hold them; what comes after them waits. */
export class RemovalBlockedError extends Error {
  override readonly name = 'RemovalBlockedError';

  constructor(injectorConfig: string, held: readonly KubernetesObject[]) {
    const names = held.map(({ kind, metadata }) => {
      return `${kind} ${metadata.name ?? ''} (${(metadata.finalizers ?? []).join(', ')})`;
    });
    super(
      `InjectorConfig ${injectorConfig}: deleted, but held by finalizers: ${names.join('; ')}. ` +
        'Whoever set them must take them off; until then everything that answers the webhook stays',
    );
  }
}
