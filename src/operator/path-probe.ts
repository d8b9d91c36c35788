import type { KubernetesObject } from '../api/kubernetes.ts';
import { pathProbeKeys } from '../api/path-probe.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ApiError } from '../kube/api-error.ts';
import { pause } from '../kube/clock.ts';
import type { Clock } from '../kube/ports.ts';
import { probeWebhookName } from '../manifests/probe-objects.ts';
import { noWrites, type OwnedObjects } from './owned-objects.ts';
import { unreachable } from './unreachable.ts';

/** Whether the API server reaches the webhook, and if not, why. */
export type PathProbeResult =
  | { readonly reached: true; readonly replica: string; readonly milliseconds: number }
  | { readonly reached: false; readonly reason: 'NotReachable' | 'ProbeRefused' | 'Invalid'; readonly message: string };

export interface PathProbeOptions {
  readonly client: Pick<ApiClient, 'create'>;
  readonly owned: Pick<OwnedObjects, 'apply' | 'remove'>;
  readonly clock: Clock;
  /** A new text each time that nobody can know beforehand. */
  readonly nonce: () => string;
}

/**
 * How long it is tried, in milliseconds. API servers learn of a new webhook configuration, and of a new Service, by watches of their own: for a
 * moment the answer may come from before.
 */
const patienceMs = 2000;
const betweenMs = 50;

/**
 * Tries out the way from the API server to a replica: puts up the twin configuration, asks by dry run until the nonce comes back, and takes the twin
 * away again, whatever came of it.
 */
export class PathProbe {
  readonly #options: PathProbeOptions;

  constructor(options: PathProbeOptions) {
    this.#options = options;
  }

  /**
   * @param twin the configuration to try, see `probeConfiguration`
   * @param question the ConfigMap with a given nonce
   * Rejects when the API server answers neither for itself nor for the webhook (no connection, a missing right): to be tried again like any write.
   */
  async run(
    twin: KubernetesObject,
    question: (nonce: string) => KubernetesObject,
    signal: AbortSignal,
  ): Promise<PathProbeResult> {
    const { owned } = this.#options;
    let applied: KubernetesObject;
    try {
      ({ object: applied } = await owned.apply(twin, noWrites(), signal));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 422) throw error;
      return { reached: false, reason: 'Invalid', message: error.message };
    }
    try {
      return await this.#ask(question, signal);
    } finally {
      // When we no longer lead it is the next leader's to take away, which may be using it already.
      if (!signal.aborted) await owned.remove(applied, signal);
    }
  }

  async #ask(question: (nonce: string) => KubernetesObject, signal: AbortSignal): Promise<PathProbeResult> {
    const { client, clock, nonce } = this.#options;
    const began = clock.monotonic();
    for (;;) {
      const asked = question(nonce());
      const answer = await this.#askOnce(() => client.create(asked, { dryRun: true, signal }), asked);
      if (answer.reached) return { ...answer, milliseconds: clock.monotonic() - began };
      if (answer.reason === 'ProbeRefused') return answer;
      if (clock.monotonic() - began >= patienceMs) return answer;
      await pause(clock, betweenMs, signal);
      signal.throwIfAborted();
    }
  }

  async #askOnce(
    create: () => Promise<KubernetesObject>,
    { metadata, data: sent }: KubernetesObject,
  ): Promise<PathProbeResult> {
    try {
      const data = ((await create()).data ?? {}) as Record<string, string | undefined>;
      const isAnswer = data[pathProbeKeys.answer] === (sent as Record<string, string>)[pathProbeKeys.nonce];
      if (isAnswer) return { reached: true, replica: data[pathProbeKeys.replica] ?? '', milliseconds: 0 };
      return { reached: false, reason: 'NotReachable', message: silent };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.message.includes(`webhook "${probeWebhookName}"`)) {
        return { reached: false, reason: 'NotReachable', message: unreachable(error.message) };
      }
      const isRefusal = [403, 409, 422].includes(error.code) && !/ cannot create resource /.test(error.message);
      if (!isRefusal) throw error;
      const message = `the dry run by which the webhook is tried out (CREATE of ConfigMap ${metadata.name ?? ''} in namespace ${metadata.namespace ?? ''}) was refused by something else, so the webhook is not installed: ${error.message}; let that ConfigMap pass`;
      return { reached: false, reason: 'ProbeRefused', message };
    }
  }
}

const silent =
  'the API server took the dry run without an answer of ours, so the webhook is not installed: it has not taken notice of the configuration yet, or what is reached is not this version of the operator';
