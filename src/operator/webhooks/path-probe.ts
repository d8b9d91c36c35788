import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { pathProbeKeys } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import type { Clock } from '../../kube/ports.ts';
import { probeWebhookName } from '../../manifests/probe-objects.ts';
import type { ObjectWriter } from '../controller/object-writer.ts';
import { noWrites } from '../controller/owned-objects.ts';

/** Whether the API server reaches the webhook, and if not, why. */
export type PathProbeResult =
  | { readonly reached: true; readonly replica: string; readonly milliseconds: number }
  | { readonly reached: false; readonly reason: 'NotReachable' | 'ProbeRefused' | 'Invalid'; readonly message: string };

export interface PathProbeOptions {
  readonly client: Pick<ApiClient, 'create'>;
  readonly webhooks: Pick<ObjectWriter, 'apply' | 'remove'>;
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
 * Tries out the way from the API server to a replica: puts up the probe webhook, asks by dry run until the nonce comes back, and takes it
 * away again, whatever came of it. Rejects when the API server answers neither for itself nor for the webhook (no connection, a missing right): to be
 * tried again like any write.
 * @param probing the configuration to try, see `probeConfiguration`
 * @param question the ConfigMap with a given nonce
 */
export async function probePath(
  { webhooks, client, clock, nonce }: PathProbeOptions,
  probing: KubernetesObject,
  question: (nonce: string) => KubernetesObject,
  signal: AbortSignal,
): Promise<PathProbeResult> {
  let applied: KubernetesObject;
  try {
    ({ object: applied } = await webhooks.apply(probing, noWrites(), signal));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 422) throw error;
    return { reached: false, reason: 'Invalid', message: error.message };
  }
  try {
    const began = clock.monotonic();
    for (;;) {
      const asked = question(nonce());
      const answer = await askOnce(() => client.create(asked, { dryRun: true, signal }), asked);
      const milliseconds = clock.monotonic() - began;
      if (answer.reached) return { ...answer, milliseconds };
      if (answer.reason === 'ProbeRefused' || milliseconds >= patienceMs) return answer;
      await pause(clock, betweenMs, signal);
      signal.throwIfAborted();
    }
  } finally {
    // When we no longer lead it is the next leader's to take away, which may be using it already.
    if (!signal.aborted) await webhooks.remove(applied, signal);
  }
}

async function askOnce(
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
    if (error.message.includes(`webhook "${probeWebhookName}"`))
      return { reached: false, reason: 'NotReachable', message: unreachable(error.message) };
    const isRefusal = [403, 409, 422].includes(error.code) && !/ cannot create resource /.test(error.message);
    if (!isRefusal) throw error;
    const message = `the dry run by which the webhook is tried out (CREATE of ConfigMap ${metadata.name ?? ''} in namespace ${metadata.namespace ?? ''}) was refused by something else, so the webhook is not installed: ${error.message}; let that ConfigMap pass`;
    return { reached: false, reason: 'ProbeRefused', message };
  }
}

const silent =
  'the API server took the dry run without an answer of ours, so the webhook is not installed: it has not taken notice of the configuration yet, or what is reached is not this version of the operator';

/** What the API server says (Go's net, crypto/tls and the webhook client of k8s.io/apiserver), and what that asks for. */
const causes: readonly (readonly [says: RegExp, advice: string])[] = [
  [
    /x509|tls: |certificate/,
    'what answers there does not have the certificate that the caBundle trusts: look at the condition CertificateReady, at what the Service or url leads to, and for a proxy between that ends TLS',
  ],
  [
    /connection refused/,
    'nobody listens there: look whether the pods of the operator are ready and whether the port is theirs (Service targetPort, --webhook-port)',
  ],
  [
    /deadline exceeded|timeout|timed out/i,
    'packets are lost on the way: let the control plane reach the port of the webhook (firewall rules of private clusters, NetworkPolicies): 15017 unless told',
  ],
  [
    /no such host|server misbehaving/,
    'the name is not known where the API server runs: correct the Service or the url',
  ],
  [
    /no route to host|network is unreachable/,
    'the address cannot be reached from where the API server runs: use a url or a network that both have',
  ],
  [
    /service "[^"]*" not found|no endpoints available|no service port|could not find the requested/,
    'the Service leads to no ready pod that serves this: look at its selector and at the readiness of the pods of the operator',
  ],
  [
    /currently unable to handle the request/,
    'the replicas that answer do not have this configuration (yet): look at their logs',
  ],
];

/**
 * One sentence about a webhook that the API server could not call, from its error: its own words from where they say what happened, and what to
 * do. The same failure always gives the same sentence: ports that change with each connection are left out.
 */
export function unreachable(error: string): string {
  const said = (/failed to call webhook: (.*)$/s.exec(error)?.[1] ?? error)
    .replace(/\?timeout=[^"\s]*/, '')
    .replace(/\b(read|write) tcp \S+->/, '$1 tcp ')
    .trim();
  const advice = causes.find(([says]) => says.test(said))?.[1];
  return `the API server does not reach the webhook, so it is not installed: ${said}${advice === undefined ? '' : `; ${advice}`}`;
}
