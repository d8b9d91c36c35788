import type { KubernetesObject } from '../api/kubernetes.ts';
import type { Clock } from '../kube/ports.ts';
import type { ClusterView } from './cluster-view.ts';
import type { OwnedObjects } from './owned-objects.ts';

/** How long what a webhook needs stays after the webhook: API servers learn of its removal by a watch. Milliseconds. */
const servingGraceMs = 2000;

/**
 * Takes away everything of an InjectorConfig so that no pod is ever blocked: the webhook configuration first, and what answers it only when
 * no API server can be calling it any more.
 */
export class Removal {
  readonly #view: ClusterView;
  readonly #owned: OwnedObjects;
  readonly #clock: Clock;
  /** When the webhook was first seen to be gone. */
  readonly #goneSince = new Map<string, number>();

  constructor(view: ClusterView, owned: OwnedObjects, clock: Clock) {
    this.#view = view;
    this.#owned = owned;
    this.#clock = clock;
  }

  /** Does what can be done now; returns the milliseconds until the next step, or undefined when nothing is left. */
  async step(name: string, signal: AbortSignal): Promise<number | undefined> {
    const objects = this.#view.belongingTo(name);
    const webhooks = objects.filter(isWebhook);
    for (const webhook of webhooks) await this.#owned.remove(webhook, signal);
    if (webhooks.length > 0) {
      this.#goneSince.delete(name);
      // The view tells when it is gone; in case it does not, look again.
      return servingGraceMs;
    }
    if (objects.length === 0) {
      this.#goneSince.delete(name);
      return undefined;
    }
    const now = this.#clock.monotonic();
    const since = this.#goneSince.get(name) ?? now;
    this.#goneSince.set(name, since);
    const wait = since + servingGraceMs - now;
    if (wait > 0) return wait;
    for (const object of objects) await this.#owned.remove(object, signal);
    return servingGraceMs;
  }
}

function isWebhook({ kind }: KubernetesObject): boolean {
  return kind === 'MutatingWebhookConfiguration';
}
