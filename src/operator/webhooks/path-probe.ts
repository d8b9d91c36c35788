import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { pathProbeKeys } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import type { Clock } from '../../kube/ports.ts';
import { probeWebhookName } from '../../manifests/probe-objects.ts';
import type { ObjectWriter } from '../controller/object-writer.ts';

/** The result of a reachability check. */
export type PathProbeResult =
  | { readonly reached: true; readonly replica: string; readonly milliseconds: number }
  | { readonly reached: false; readonly reason: 'NotReachable' | 'ProbeRefused' | 'Invalid'; readonly message: string };

export interface PathProbeOptions {
  readonly client: Pick<ApiClient, 'create'>;
  readonly webhooks: Pick<ObjectWriter, 'apply' | 'remove'>;
  readonly clock: Clock;
  /** Returns a new unpredictable text. */
  readonly nonce: () => string;
}

/**
 * How long to retry, in milliseconds. API servers learn about a new webhook configuration or
 * Service through a watch, so the first dry runs may not reach them.
 */
const timeoutMs = 2000;
const intervalMs = 50;

/**
 * Checks that the API server reaches a replica: creates the probe webhook, sends dry runs until one
 * returns its nonce, and deletes the probe webhook. Rejects if the API server cannot be reached or
 * denies permission; the caller then retries as after any failed write.
 * @param probing the probe webhook; see `probeConfiguration`
 * @param requestFor returns the ConfigMap to create for a nonce
 */
export async function probePath(
  { webhooks, client, clock, nonce }: PathProbeOptions,
  probing: KubernetesObject,
  requestFor: (nonce: string) => KubernetesObject,
  signal: AbortSignal,
): Promise<PathProbeResult> {
  let applied: KubernetesObject;
  try {
    ({ object: applied } = await webhooks.apply(probing, signal));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 422) throw error;
    return { reached: false, reason: 'Invalid', message: error.message };
  }
  try {
    const began = clock.monotonic();
    for (;;) {
      const request = requestFor(nonce());
      const answer = await askOnce(() => client.create(request, { dryRun: true, signal }), request);
      const milliseconds = clock.monotonic() - began;
      if (answer.reached) return { ...answer, milliseconds };
      if (answer.reason === 'ProbeRefused' || milliseconds >= timeoutMs) return answer;
      await pause(clock, intervalMs, signal);
      signal.throwIfAborted();
    }
  } finally {
    // A former leader must not delete the probe webhook: the next leader may already use it.
    if (!signal.aborted) await webhooks.remove(applied, signal);
  }
}

async function askOnce(
  create: () => Promise<KubernetesObject>,
  { metadata, data: sent }: KubernetesObject,
): Promise<PathProbeResult> {
  try {
    const data = ((await create()).data ?? {}) as Record<string, string | undefined>;
    const isAnswered = data[pathProbeKeys.answer] === (sent as Record<string, string>)[pathProbeKeys.nonce];
    if (isAnswered) return { reached: true, replica: data[pathProbeKeys.replica] ?? '', milliseconds: 0 };
    return { reached: false, reason: 'NotReachable', message: unanswered };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.message.includes(`webhook "${probeWebhookName}"`))
      return { reached: false, reason: 'NotReachable', message: failedCallMessage(error.message) };
    const isRefusal = [403, 409, 422].includes(error.code) && !/ cannot create resource /.test(error.message);
    if (!isRefusal) throw error;
    const message = `the dry run of the reachability check (CREATE of ConfigMap ${metadata.name ?? ''} in namespace ${metadata.namespace ?? ''}) was rejected by another component, so the webhook is not installed: ${error.message}; allow this ConfigMap there`;
    return { reached: false, reason: 'ProbeRefused', message };
  }
}

const unanswered =
  'the API server accepted the dry run without an answer from a replica, so the webhook is not installed: the API server has not loaded the probe webhook yet, or the endpoint runs another version of the operator';

/** Patterns of API server errors (Go's net and crypto/tls, and k8s.io/apiserver), with advice. */
const causes: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /x509|tls: |certificate/,
    'the endpoint presents a certificate that the caBundle does not trust: check the condition CertificateReady, the target of the Service or spec.webhook.url, and whether a proxy terminates TLS in between',
  ],
  [
    /connection refused/,
    'no process listens there: check that the pods of the operator are ready, and that the targetPort of the Service is their --webhook-port',
  ],
  [
    /deadline exceeded|timeout|timed out/i,
    'packets are lost: allow the control plane to connect to the webhook port, by default 15017, in NetworkPolicies and in the firewall rules of private clusters',
  ],
  [
    /no such host|server misbehaving/,
    'the API server cannot resolve the host name: correct the Service or the url (spec.webhook.url)',
  ],
  [
    /no route to host|network is unreachable/,
    'the API server has no route to the address: set a spec.webhook.url that it can reach, or connect the networks',
  ],
  [
    /service "[^"]*" not found|no endpoints available|no service port|could not find the requested/,
    'the Service has no ready pod that serves this path: check its selector, and that the pods of the operator are ready',
  ],
  [/currently unable to handle the request/, 'the replicas have not loaded this configuration yet: check their logs'],
];

/**
 * Returns a message with the API server's error about a failed webhook call, and with advice.
 * Removes the ephemeral port, so that the same failure always results in the same message.
 */
export function failedCallMessage(error: string): string {
  const cause = (/failed to call webhook: (.*)$/s.exec(error)?.[1] ?? error)
    .replace(/\?timeout=[^"\s]*/, '')
    .replace(/\b(read|write) tcp \S+->/, '$1 tcp ')
    .trim();
  const advice = causes.find(([pattern]) => pattern.test(cause))?.[1];
  return `the API server does not reach the webhook, so it is not installed: ${cause}${advice === undefined ? '' : `; ${advice}`}`;
}
