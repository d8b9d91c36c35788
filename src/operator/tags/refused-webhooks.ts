import type { KubernetesObject } from '../../api/kubernetes.ts';
import type { Clock } from '../../kube/ports.ts';

/**
 * How long a webhook that was refused is not tried again, in milliseconds. What is wanted differs when somebody has corrected it, and is tried at once;
 * that the same is valid later is rare: a policy or the API server must have changed.
 */
const refusedMs = 60_000;

/** A webhook configuration that the API server did not take. */
export interface RefusedWebhook {
  /** The API server's words. */
  readonly message: string;
  /** Milliseconds after which it may be tried again. */
  readonly retryAfter: number;
}

/**
 * The webhook configurations that the API server found invalid last, by tag. Each attempt makes the next forced write of the same object wait: tried at
 * each pass, while a rollout is under way once a second, it would keep an InjectorConfig's pass from repairing the caBundle of the one in force.
 */
export class RefusedWebhooks {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #refused = new Map<string, { text: string; message: string; at: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Undefined: it may be tried. */
  find(tag: string, desired: KubernetesObject): RefusedWebhook | undefined {
    const refused = this.#refused.get(tag);
    if (refused === undefined) return undefined;
    const retryAfter = refused.at + refusedMs - this.#clock.monotonic();
    if (retryAfter <= 0 || refused.text !== JSON.stringify(desired)) return undefined;
    return { message: refused.message, retryAfter };
  }

  remember(tag: string, desired: KubernetesObject, message: string): RefusedWebhook {
    this.#refused.set(tag, { text: JSON.stringify(desired), message, at: this.#clock.monotonic() });
    return { message, retryAfter: refusedMs };
  }

  forget(tag: string): void {
    this.#refused.delete(tag);
  }
}
