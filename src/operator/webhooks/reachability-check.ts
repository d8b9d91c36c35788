import { ourWebhooksOf } from './published-webhook.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { pathProbeName } from '../../api/names.ts';
import type { Logger } from '../../kube/ports.ts';
import { parseWebhookRoute } from '../../routing/route.ts';
import { probeConfigMap, probeConfiguration, probeSubject } from '../../manifests/probe-objects.ts';
import type { ClusterView } from '../cluster-view.ts';
import { type PathProbeOptions, probePath } from './path-probe.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import type { WebhookInput } from '../../manifests/webhook-configuration.ts';

/** Where a webhook is to lead: an InjectorConfig's own, or a tag's. */
export interface WebhookTarget extends WebhookInput {
  readonly context: ManifestContext;
}

export interface ReachabilityCheckOptions extends PathProbeOptions {
  readonly view: ClusterView;
  readonly logger: Logger;
}

/** Why a webhook may not be written yet. */
export interface ClosedGate {
  readonly finding: Finding;
  /** Milliseconds. */
  readonly retryAfter: number;
}

const firstRetryMs = 1000;
const longestRetryMs = 30_000;

/**
 * Lets a webhook through to where it can stop pods only when the API server has reached it. Asked again is when it appears for the first time, after
 * it was withdrawn, and when it is to call another place (Service, port, url). Not asked is when only the configuration in its path or its
 * certificates move, for which replicas answer themselves; and when somebody has deleted what was in force: each moment without it pods start plain.
 */
export class ReachabilityCheck {
  readonly #options: ReachabilityCheckOptions;
  /** The place that was reached last, by InjectorConfig or tag (`probeSubject`). */
  readonly #reached = new Map<string, string>();
  readonly #failed = new Map<string, { text: string; attempts: number; due: number; finding: Finding }>();

  constructor(options: ReachabilityCheckOptions) {
    this.#options = options;
  }

  /**
   * Resolves with undefined when the webhook may be written. Rejects when the API server does.
   * @param desired the configuration that is to be written
   * @param live what is there now
   */
  async check(
    target: WebhookTarget,
    desired: KubernetesObject,
    live: KubernetesObject | undefined,
    signal: AbortSignal,
  ): Promise<ClosedGate | undefined> {
    const { clock, logger } = this.#options;
    const { context } = target;
    const name = probeSubject(target);
    if (this.isOpen(name, desired, live)) return undefined;
    const probing = probeConfiguration(target, context);
    const text = JSON.stringify(probing);
    const before = this.#failed.get(name);
    const last = before?.text === text ? before : undefined;
    const wait = last === undefined ? 0 : last.due - clock.monotonic();
    if (last !== undefined && wait > 0) return { finding: last.finding, retryAfter: wait };
    const result = await probePath(
      this.#options,
      probing,
      (nonce) => probeConfigMap(name, nonce, context.namespace),
      signal,
    );
    if (result.reached) {
      this.#failed.delete(name);
      this.#reached.set(name, placeOf(desired));
      const { replica, milliseconds } = result;
      logger.info('the API server reaches the webhook', { webhook: desired.metadata.name, replica, milliseconds });
      return undefined;
    }
    const attempts = (last?.attempts ?? 0) + 1;
    const retryAfter = Math.min(firstRetryMs * 2 ** (attempts - 1), longestRetryMs);
    const finding = no(result.reason, result.message);
    this.#failed.set(name, { text, attempts, due: clock.monotonic() + retryAfter, finding });
    return { finding, retryAfter };
  }

  /** Whether the webhook leads where one is in force already, or was when we last looked. */
  isOpen(name: string, desired: KubernetesObject, live: KubernetesObject | undefined): boolean {
    const place = placeOf(desired);
    if (placeOf(live) === place) this.#reached.set(name, place);
    return this.#reached.get(name) === place;
  }

  /** Removes the probe webhook that a process which ended too early has left; within a pass there is none. One of another class is under trial there. */
  async sweep(name: string, signal: AbortSignal): Promise<void> {
    const { view } = this.#options;
    const left = view.mutatingWebhooks.get(pathProbeName(name));
    if (left !== undefined && view.isOurs(left)) await this.#options.webhooks.remove(left, signal);
  }

  /** The webhook was withdrawn, or the InjectorConfig is gone: the next one has to be tried out. */
  forget(name: string): void {
    this.#reached.delete(name);
    this.#failed.delete(name);
  }
}

/** Where our webhooks of a configuration lead, without the path; empty when there are none or they do not agree. */
function placeOf(configuration: KubernetesObject | undefined): string {
  const places = new Set(
    ourWebhooksOf(configuration).map(({ clientConfig: { url, service } = {} }) => {
      if (url !== undefined) return parseWebhookRoute(url)?.prefix ?? url;
      return `${service?.namespace ?? ''}/${service?.name ?? ''}:${service?.port ?? ''}`;
    }),
  );
  const [place = ''] = places;
  return places.size === 1 ? place : '';
}
