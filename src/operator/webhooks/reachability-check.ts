import { ourWebhooksOf } from './published-webhook.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { pathProbeName } from '../../api/names.ts';
import type { Logger } from '../../kube/ports.ts';
import { parseWebhookRoute } from '../../routing/route.ts';
import { probeConfigMap, probeConfiguration, probeSubject } from '../../manifests/probe-objects.ts';
import type { ClusterView } from '../cluster-view.ts';
import { type PathProbeOptions, probePath } from './path-probe.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import type { PassMemory } from '../controller/pass-context.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import type { WebhookInput } from '../../manifests/webhook-configuration.ts';

/** A webhook to write, of an InjectorConfig or of a tag. */
export interface CheckedWebhook extends WebhookInput {
  readonly context: ManifestContext;
}

export interface EndpointMemory {
  /** The endpoint that was reached last. */
  reached?: string;
  /** The last failed check. */
  failed?: { readonly text: string; readonly attempts: number; readonly due: number; readonly finding: Finding };
}

export interface ReachabilityParts extends PathProbeOptions {
  readonly view: ClusterView;
  readonly logger: Logger;
  /** By `probeSubject`. */
  readonly memory: PassMemory<EndpointMemory>;
}

/** The reason why a webhook cannot be written yet. */
export interface WriteObstacle {
  readonly finding: Finding;
  /** How long to wait before the next attempt, in milliseconds. */
  readonly retryAfter: number;
}

const minRetryMs = 1000;
const maxRetryMs = 30_000;

/**
 * Runs the reachability check before a webhook is created, again after a withdrawal, and before it
 * moves to another endpoint (Service, port or url). Skips the check for a new path or certificate,
 * which replicas report, and for a deleted webhook: until it is back, pods get no sidecar. Resolves
 * with undefined if the webhook may be written. Rejects when the API server fails.
 */
export async function checkReachability(
  parts: ReachabilityParts,
  target: CheckedWebhook,
  desired: KubernetesObject,
  live: KubernetesObject | undefined,
  signal: AbortSignal,
): Promise<WriteObstacle | undefined> {
  const { clock, logger, memory } = parts;
  const { context } = target;
  const name = probeSubject(target);
  if (hasReached(parts, name, desired, live)) return undefined;
  const probing = probeConfiguration(target, context);
  const text = JSON.stringify(probing);
  const record = memory.of(name);
  const last = record.failed?.text === text ? record.failed : undefined;
  const wait = last === undefined ? 0 : last.due - clock.monotonic();
  if (last !== undefined && wait > 0) return { finding: last.finding, retryAfter: wait };
  const result = await probePath(parts, probing, (nonce) => probeConfigMap(name, nonce, context.namespace), signal);
  if (result.reached) {
    delete record.failed;
    record.reached = endpointOf(desired);
    const { replica, milliseconds } = result;
    logger.info('the API server reaches the webhook', { webhook: desired.metadata.name, replica, milliseconds });
    return undefined;
  }
  const attempts = (last?.attempts ?? 0) + 1;
  const retryAfter = Math.min(minRetryMs * 2 ** (attempts - 1), maxRetryMs);
  const finding = no(result.reason, result.message);
  record.failed = { text, attempts, due: clock.monotonic() + retryAfter, finding };
  return { finding, retryAfter };
}

/** Reports whether the endpoint is the live webhook's, or the endpoint that was reached last. */
export function hasReached(
  { memory }: ReachabilityParts,
  name: string,
  desired: KubernetesObject,
  live: KubernetesObject | undefined,
): boolean {
  const record = memory.of(name);
  const endpoint = endpointOf(desired);
  if (endpointOf(live) === endpoint) record.reached = endpoint;
  return record.reached === endpoint;
}

/** Removes a probe webhook that a previous leader left behind. Call this between checks. */
export async function sweepProbe(
  { view, webhooks }: ReachabilityParts,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const leftover = view.mutatingWebhooks.get(pathProbeName(name));
  if (leftover !== undefined && view.isOurs(leftover)) await webhooks.remove(leftover, signal);
}

/** Returns the endpoint of our webhooks, without the path; '' if they have none or differ. */
function endpointOf(configuration: KubernetesObject | undefined): string {
  const endpoints = new Set(
    ourWebhooksOf(configuration).map(({ clientConfig: { url, service } = {} }) => {
      if (url !== undefined) return parseWebhookRoute(url)?.prefix ?? url;
      return `${service?.namespace ?? ''}/${service?.name ?? ''}:${service?.port ?? ''}`;
    }),
  );
  const [endpoint = ''] = endpoints;
  return endpoints.size === 1 ? endpoint : '';
}
