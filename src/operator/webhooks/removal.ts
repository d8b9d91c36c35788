import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ObjectKey } from '../../kube/request-options.ts';
import type { PassContext } from '../controller/pass-context.ts';
import type { WebhookWriter } from './webhook-writer.ts';
import { fieldManager } from '../settings.ts';

/** How long what a webhook needs stays after the webhook: API servers learn of its removal by a watch. Milliseconds. */
const servingGraceMs = 2000;

export interface RemovalOptions extends Pick<PassContext, 'view' | 'owned' | 'clock'> {
  readonly webhooks: Pick<WebhookWriter, 'remove'>;
}

/**
 * Takes away everything of an InjectorConfig so that no pod is ever blocked: the webhook configuration first, and what answers it only when
 * no API server can be calling it any more.
 */
export class Removal {
  readonly #options: RemovalOptions;
  /** When the webhook was first seen to be gone. */
  readonly #goneSince = new Map<string, number>();

  constructor(options: RemovalOptions) {
    this.#options = options;
  }

  /**
   * Does what can be done now; returns the milliseconds until the next step, or undefined when nothing is left.
   * Rejects with {@link RemovalBlockedError} while finalizers of others hold what we have deleted.
   */
  async step(name: string, signal: AbortSignal): Promise<number | undefined> {
    const { view, clock } = this.#options;
    const webhooks = await this.#found(name, isWebhook, signal);
    if (webhooks.length > 0) {
      this.#goneSince.delete(name);
      await this.#remove(name, webhooks, signal);
      // The view tells when it is gone; in case it does not, look again.
      return servingGraceMs;
    }
    // A tag's pass brings the workloads of its canary back to stable, and wakes us; until then they need what answers here.
    if (view.rolloutsTo(name).length > 0) {
      this.#goneSince.delete(name);
      return servingGraceMs;
    }
    const objects = await this.#found(name, (each) => !isWebhook(each), signal);
    if (objects.length === 0) {
      this.#goneSince.delete(name);
      return undefined;
    }
    const now = clock.monotonic();
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
    const webhooks = await this.#found(name, isWebhook, signal);
    await this.#remove(name, webhooks, signal);
    return webhooks.length > 0;
  }

  /**
   * What carries the label of an InjectorConfig, and what bears one of its names and has lost its labels while nobody was running: no watch tells of that,
   * but a webhook blocks pods all the same.
   */
  async #found(name: string, isMeant: (each: ObjectKey) => boolean, signal: AbortSignal): Promise<KubernetesObject[]> {
    const { view, owned } = this.#options;
    const found = view.belongingTo(name).filter(isMeant);
    for (const key of view.namedAfter(name).filter(isMeant)) {
      if (found.some(({ kind, metadata }) => kind === key.kind && metadata.name === key.metadata.name)) continue;
      const object = isWebhook(key) ? view.live(key) : await owned.read(key, signal);
      if (object !== undefined && view.isOwnedByName(object, name, fieldManager)) found.push(object);
    }
    return found;
  }

  async #remove(name: string, objects: readonly KubernetesObject[], signal: AbortSignal): Promise<void> {
    const held: KubernetesObject[] = [];
    for (const object of objects) {
      const writer = isWebhook(object) ? this.#options.webhooks : this.#options.owned;
      const left = await writer.remove(object, signal);
      if (left !== undefined && (left.metadata.finalizers ?? []).length > 0) held.push(left);
    }
    if (held.length > 0) throw new RemovalBlockedError(name, held);
  }
}

function isWebhook({ kind }: { kind: string }): boolean {
  return kind === 'MutatingWebhookConfiguration';
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
