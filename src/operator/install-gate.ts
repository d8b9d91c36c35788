import type { InjectorConfig } from '../api/injector-config.ts';
import { group } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { pathProbeName } from '../api/path-probe.ts';
import type { Clock, Logger } from '../kube/ports.ts';
import type { ManifestContext } from '../manifests/manifest-context.ts';
import { probeConfigMap, probeConfiguration, probeSubject } from '../manifests/probe-objects.ts';
import type { ClusterView } from './cluster-view.ts';
import type { OwnedObjects } from './owned-objects.ts';
import type { PathProbe } from './path-probe.ts';
import type { Finding } from './revision-status.ts';

export interface InstallGateOptions {
  readonly view: ClusterView;
  readonly owned: Pick<OwnedObjects, 'remove'>;
  readonly probe: Pick<PathProbe, 'run'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A webhook that is about to be written. */
export interface InstallRequest {
  readonly config: InjectorConfig;
  /** The tag that it is written for, if any; the webhooks of an InjectorConfig and of each tag are tried out apart. */
  readonly tag?: string;
  readonly hash: string;
  readonly caBundlePem: string;
  readonly context: ManifestContext;
  /** The configuration that is to be written. */
  readonly desired: KubernetesObject;
  /** What is there now. */
  readonly live: KubernetesObject | undefined;
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
export class InstallGate {
  readonly #options: InstallGateOptions;
  /** The place that was reached last, by InjectorConfig or tag (`probeSubject`). */
  readonly #reached = new Map<string, string>();
  readonly #failed = new Map<string, { twin: string; attempts: number; due: number; finding: Finding }>();

  constructor(options: InstallGateOptions) {
    this.#options = options;
  }

  /** Resolves with undefined when the webhook may be written. Rejects when the API server does. */
  async check(request: InstallRequest, signal: AbortSignal): Promise<ClosedGate | undefined> {
    const { probe, clock, logger } = this.#options;
    const { context, desired, live } = request;
    const name = probeSubject(request);
    if (this.isOpen(name, desired, live)) return undefined;
    const twin = probeConfiguration(request, context);
    const text = JSON.stringify(twin);
    const before = this.#failed.get(name);
    const last = before?.twin === text ? before : undefined;
    const wait = last === undefined ? 0 : last.due - clock.monotonic();
    if (last !== undefined && wait > 0) return { finding: last.finding, retryAfter: wait };
    const result = await probe.run(twin, (nonce) => probeConfigMap(name, nonce, context.namespace), signal);
    if (result.reached) {
      this.#failed.delete(name);
      this.#reached.set(name, placeOf(desired));
      const { replica, milliseconds } = result;
      logger.info('the API server reaches the webhook', { webhook: desired.metadata.name, replica, milliseconds });
      return undefined;
    }
    const attempts = (last?.attempts ?? 0) + 1;
    const retryAfter = Math.min(firstRetryMs * 2 ** (attempts - 1), longestRetryMs);
    const finding: Finding = { status: 'False', reason: result.reason, message: result.message };
    this.#failed.set(name, { twin: text, attempts, due: clock.monotonic() + retryAfter, finding });
    return { finding, retryAfter };
  }

  /** Whether the webhook leads where one is in force already, or was when we last looked. */
  isOpen(name: string, desired: KubernetesObject, live: KubernetesObject | undefined): boolean {
    const place = placeOf(desired);
    if (placeOf(live) === place) this.#reached.set(name, place);
    return this.#reached.get(name) === place;
  }

  /** Removes the twin that a process which ended too early has left; within a pass there is none. That of another class is under trial there. */
  async sweep(name: string, signal: AbortSignal): Promise<void> {
    const { view } = this.#options;
    const left = view.mutatingWebhooks.get(pathProbeName(name));
    if (left !== undefined && view.isOurs(left)) await this.#options.owned.remove(left, signal);
  }

  /** The webhook was withdrawn, or the InjectorConfig is gone: the next one has to be tried out. */
  forget(name: string): void {
    this.#reached.delete(name);
    this.#failed.delete(name);
  }
}

interface Webhook {
  name?: string;
  clientConfig?: { url?: string; service?: { namespace?: string; name?: string; port?: number } };
}

/** At the end of a url: the path of an InjectorConfig, of a tag, or of a tag in a rollout. */
const injectPaths = /\/(revisions\/[^/]+\/[^/]+|tags\/[^/]+\/[^/]+\/[^/]+(\/[^/]+\/[^/]+\/[^/]+)?)\/(inject|shadow)$/;

/** Where our webhooks of a configuration lead, without the path; empty when there are none or they do not agree. */
function placeOf(configuration: KubernetesObject | undefined): string {
  const webhooks = (configuration?.webhooks ?? []) as Webhook[];
  const ours = webhooks.filter(({ name }) => name?.endsWith(`.${group}`) === true);
  const places = new Set(
    ours.map(({ clientConfig: { url, service } = {} }) => {
      if (url !== undefined) return url.replace(injectPaths, '');
      return `${service?.namespace ?? ''}/${service?.name ?? ''}:${service?.port ?? ''}`;
    }),
  );
  const [place = ''] = places;
  return places.size === 1 ? place : '';
}
