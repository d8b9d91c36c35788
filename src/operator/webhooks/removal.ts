import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ObjectKey } from '../../kube/api-client.ts';
import type { PassContext } from '../controller/pass-context.ts';
import type { WebhookWriter } from './webhook-writer.ts';
import { fieldManager } from '../settings.ts';

/** How long to keep serving until all API servers have seen the removal of a webhook, in ms. */
const servingGraceMs = 2000;

export interface RemovalOptions extends Pick<PassContext, 'view' | 'owned' | 'clock'> {
  readonly webhooks: Pick<WebhookWriter, 'remove'>;
}

/**
 * Removes all objects of an InjectorConfig without blocking a pod: first the webhook configuration
 * and then, when no API server calls the webhook any more, the objects that serve it.
 */
export class Removal {
  readonly #options: RemovalOptions;
  /** When a pass first found no webhook, for each InjectorConfig. */
  readonly #goneSince = new Map<string, number>();

  constructor(options: RemovalOptions) {
    this.#options = options;
  }

  /**
   * Does the next step. Resolves with the milliseconds until the following step, or with undefined
   * at the end. Rejects with {@link RemovalBlockedError} while finalizers block the removal.
   */
  async step(name: string, signal: AbortSignal): Promise<number | undefined> {
    const { view, clock } = this.#options;
    const webhooks = await this.#found(name, isWebhook, signal);
    if (webhooks.length > 0) {
      this.#goneSince.delete(name);
      await this.#remove(name, webhooks, signal);
      // A watch event triggers the next pass. If the event is lost, this delay triggers it.
      return servingGraceMs;
    }
    // Keep serving until the tags have moved their workloads to stable, which triggers a pass.
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
   * Removes only the webhooks, including the probe webhook. Resolves with whether any existed.
   * Rejects with {@link RemovalBlockedError} as {@link step} does.
   */
  async withdraw(name: string, signal: AbortSignal): Promise<boolean> {
    this.#goneSince.delete(name);
    const webhooks = await this.#found(name, isWebhook, signal);
    await this.#remove(name, webhooks, signal);
    return webhooks.length > 0;
  }

  /**
   * Returns the objects with an InjectorConfig's label, and objects with its names that lost their
   * labels while no operator ran. The watches miss them, but such a webhook would still block pods.
   */
  async #found(
    name: string,
    isIncluded: (each: ObjectKey) => boolean,
    signal: AbortSignal,
  ): Promise<KubernetesObject[]> {
    const { view, owned } = this.#options;
    const found = view.belongingTo(name).filter(isIncluded);
    for (const key of view.namedAfter(name).filter(isIncluded)) {
      if (found.some(({ kind, metadata }) => kind === key.kind && metadata.name === key.metadata.name)) continue;
      const object = isWebhook(key) ? view.live(key) : await owned.read(key, signal);
      if (object !== undefined && view.isOwnedByName(object, name, fieldManager)) found.push(object);
    }
    return found;
  }

  async #remove(name: string, objects: readonly KubernetesObject[], signal: AbortSignal): Promise<void> {
    const blocked: KubernetesObject[] = [];
    for (const object of objects) {
      const writer = isWebhook(object) ? this.#options.webhooks : this.#options.owned;
      const remaining = await writer.remove(object, signal);
      if (remaining !== undefined && (remaining.metadata.finalizers ?? []).length > 0) blocked.push(remaining);
    }
    if (blocked.length > 0) throw new RemovalBlockedError(name, blocked);
  }
}

function isWebhook({ kind }: { kind: string }): boolean {
  return kind === 'MutatingWebhookConfiguration';
}

/** The error while finalizers of other controllers block the deletion of our objects. */
export class RemovalBlockedError extends Error {
  override readonly name = 'RemovalBlockedError';

  constructor(injectorConfig: string, blocked: readonly KubernetesObject[]) {
    const names = blocked.map(({ kind, metadata }) => {
      return `${kind} ${metadata.name ?? ''} (${(metadata.finalizers ?? []).join(', ')})`;
    });
    super(
      `InjectorConfig ${injectorConfig}: the deletion waits for finalizers: ${names.join('; ')}. ` +
        'The controllers that set these finalizers must remove them; until then the operator keeps serving the webhook',
    );
  }
}
