import {
  formatRotateRequest,
  rotateAnnotation,
  type RotateTarget,
} from '../../../src/api/injector-config/rotate-request.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { labelNames, objectNames, serviceHostName } from '../../../src/api/names.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../apply.ts';
import { applyUntilReady, injectorConfigs, type InjectorConfigObject } from '../injector-configs.ts';
import { lossesOf } from '../load/losses.ts';
import { markDefect, markedConfig } from '../load/marked-config.ts';
import type { ReplicaOptions } from '../replicas/replicas.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import { none, waitFor } from '../wait-for.ts';
import { redirected, webhooks, type WebhookConfiguration } from '../webhook-configurations.ts';
import { TlsObserver } from './tls-observer.ts';

interface CertificateStatus {
  phase?: string;
  rotateRequest?: { nonce: string; state: string };
}

/** Durations, which the operator divides by 60: leaves live a minute, confirmation takes 2 s. */
export const shortTerms = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '120s' };
export const rotatingFlags = ['--test-certificate-time-scale=60', '--requests-per-connection=2', '--drain-seconds=0'];

interface RotatingOptions extends ReplicaOptions {
  /** Values of the chart. */
  values?: Record<string, unknown>;
}

interface ObservedOptions {
  name: string;
  /** `spec.certificate` of the InjectorConfig; default {@link shortTerms}. */
  certificate?: Record<string, unknown>;
  perSecond?: number;
  replicaSetPods?: number;
  /** The milliseconds between two rounds of the observer; default 200. */
  pause?: number;
  /** The labels of the load's namespace. By default, they select the InjectorConfig. */
  namespaceLabels?: Record<string, string>;
  /** Creates objects in the operator's namespace before the InjectorConfig. */
  before?: (namespace: string) => Promise<unknown>;
  /** Creates objects before the first pod. */
  prepare?: () => Promise<void>;
  /** The marks that pods may have. Default: `one`, the mark of the InjectorConfig. */
  marks?: readonly string[];
}

export type RotatingCluster = Awaited<ReturnType<typeof startRotatingCluster>>;

/**
 * Starts replicas (default: three webhook replicas, two controllers), one InjectorConfig, a pod
 * load and an observer of the served certificates. Load and observer end with the scenario.
 */
export async function startRotatingCluster(context: ScenarioContext, options: RotatingOptions & ObservedOptions) {
  return observeRotations(await startRotatingReplicas(context, options), options);
}

/** Starts replicas whose certificates live for seconds, for one or several InjectorConfigs. */
export async function startRotatingReplicas(context: ScenarioContext, { values, ...options }: RotatingOptions) {
  const replicas = await context.startReplicas({ flags: rotatingFlags, ...options }, values);
  return { context, replicas, audit: context.requireAudit(), standstill: context.standstill() };
}

/** Applies an InjectorConfig, and starts a pod load for it and an observer of its certificates. */
export async function observeRotations(
  { context, replicas, audit, standstill }: Awaited<ReturnType<typeof startRotatingReplicas>>,
  options: ObservedOptions,
) {
  const { client } = context;
  const { name: ownName, certificate = shortTerms, marks = ['one'], perSecond = 30, replicaSetPods = 5 } = options;
  const names = objectNames(ownName);
  const { namespace } = replicas.installation;
  await options.before?.(namespace);
  await applyUntilReady(client, markedConfig(ownName, 'one', { certificate }));
  await options.prepare?.();
  const load = await context.startLoad({
    namespace: await context.namespace(ownName, options.namespaceLabels ?? { 'istio.io/rev': ownName }),
    perSecond,
    replicaSetPods,
    inspect: (pod) => markDefect(pod, (mark) => marks.includes(mark)),
  });
  const losses = lossesOf(context, load, audit);
  const bundle = () => readBundle(context, ownName);
  const servername = serviceHostName(names.service, namespace);
  const watched = () => replicas.webhooks;
  const observer = new TlsObserver({ readBundle: bundle, servername, replicas: watched, pause: options.pause });
  context.atEnd(() => observer.stop());
  let requests = 0;
  const status = async (name = ownName): Promise<CertificateStatus> => {
    const config = await client.get<InjectorConfigObject>(injectorConfigs, name);
    return config.status?.['certificate'] ?? {};
  };
  return {
    ...{ context, name: ownName, names, namespace, replicas, audit, standstill },
    ...{ load, losses, observer, bundle, status },

    /** Stops load and observer. */
    stop: () => Promise.all([load.stop(), observer.stop()]),

    request: async (target: RotateTarget, name = ownName): Promise<string> => {
      const nonce = `n${++requests}`;
      const annotations = { [rotateAnnotation]: formatRotateRequest({ target, nonce }) };
      await client.patch(markedConfig(name, 'one'), 'merge', { metadata: { annotations } });
      return nonce;
    },

    waitForDone: async (nonce: string, timeout = 60_000, name = ownName): Promise<void> => {
      const isDone = async () => {
        const { rotateRequest, phase } = await status(name);
        if (rotateRequest?.nonce === nonce && rotateRequest.state === 'Done') return true;
        throw new Error(`its status is ${JSON.stringify({ rotateRequest, phase })}`);
      };
      await waitFor(`rotation request ${nonce} to be done`, isDone, { timeout });
    },

    writeBundle: async (pem: string): Promise<void> => {
      const caBundle = Buffer.from(pem).toString('base64');
      const labelSelector = `${labelNames.injectorConfig}=${ownName}`;
      const { items } = await client.listAll<WebhookConfiguration>(webhooks, { labelSelector });
      if (items.length === 0) throw new Error('the InjectorConfig has no webhook configuration');
      for (const configuration of items) {
        const patch = { webhooks: redirected(configuration, { caBundle }) };
        await client.patch(configuration, 'merge', patch, { fieldManager: 'other' });
      }
    },

    /** Checks that the CA bundle verified every certificate seen since a time (ms since 1970). */
    checkNoViolations: async (statement: string, since: number): Promise<void> => {
      await observer.waitForRound();
      const violations = observer.violationsSince(since);
      await context.checkNow(statement, () => none(violations.map(({ description }) => description)));
    },

    secret: async (name: string): Promise<Record<string, string> | undefined> => {
      const found = await client.find(resourceKind('v1', 'Secret'), name, { namespace });
      return found && decoded(found);
    },

    writeSecret: async (name: string, text: Record<string, string>): Promise<void> => {
      const secret = objectOf('v1', 'Secret', name, namespace);
      await client.patch(secret, 'merge', { data: encoded(text) }, { fieldManager: 'other' });
    },

    /** Counts the API server's connections for the InjectorConfig between times (ms since 1970). */
    apiServerHandshakes: async (from: number, to = Infinity): Promise<number> => {
      const all = await replicas.balancer.connections();
      const ours = all.filter(({ host, bytesDown }) => host?.endsWith(servername) === true && bytesDown > 0);
      return ours.filter(({ openedAt }) => openedAt >= from && openedAt <= to).length;
    },

    /** Waits, after a fault that lost pods, until 20 pods in a row are created without a loss. */
    waitForCalm: async (): Promise<void> => {
      let since = Date.now();
      const isCalm = () => {
        const { created, lost } = losses.report(since);
        if (lost.length === 0) return created >= 20;
        since = Date.now();
        return false;
      };
      await waitFor('pods to be created as before', isCalm, { timeout: 30_000, interval: 200 });
    },
  };
}

/** Decodes the data of a Secret. */
export function decoded(secret: KubernetesObject): Record<string, string> {
  const data = (secret['data'] ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

/** Encodes texts as the data of a Secret. */
export function encoded(text: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}

/** Returns the CA bundle of an InjectorConfig's webhooks as PEM; empty if there is none. */
export async function readBundle({ client }: ScenarioContext, name: string): Promise<string> {
  const webhook = await client.find<WebhookConfiguration>(webhooks, objectNames(name).webhookConfiguration);
  const bundles = new Set(webhook?.webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? ''));
  if (bundles.size > 1) throw new Error('the webhooks of one configuration have different CA bundles');
  const [bundle = ''] = bundles;
  return Buffer.from(bundle, 'base64').toString('utf8');
}
