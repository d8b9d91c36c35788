import {
  formatRotateRequest,
  rotateAnnotation,
  type RotateTarget,
} from '../../../src/api/injector-config/rotate-request.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { labelNames, objectNames, serviceHostName } from '../../../src/api/names.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../apply.ts';
import type { AuditLog } from '../audit-log.ts';
import { applyUntilReady, injectorConfigs, type InjectorConfigObject } from '../injector-configs.ts';
import { Losses } from '../load/losses.ts';
import { markDefect, markedConfig } from '../load/marked-config.ts';
import { PodLoad } from '../load/pod-load.ts';
import type { Pod } from '../pod.ts';
import type { ReplicaOptions, Replicas } from '../replicas/replicas.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import { Standstill } from '../standstill/standstill.ts';
import { waitFor } from '../wait-for.ts';
import { redirected, webhooks, type WebhookConfiguration } from '../webhook-configurations.ts';
import { TlsObserver } from './tls-observer.ts';

interface CertificateStatus {
  phase?: string;
  rotateRequest?: { nonce: string; state: string };
}

/** An hour is a minute, so an authority is confirmed for 2 s and a serving certificate lives for a minute. */
export const shortTerms = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '120s' };
export const rotatingFlags = ['--test-certificate-time-scale=60', '--requests-per-connection=2', '--drain-seconds=0'];

interface RotatingOptions extends ReplicaOptions {
  name: string;
  /** {@link shortTerms} unless told; and {@link rotatingFlags}. */
  certificate?: Record<string, unknown>;
  perSecond?: number;
  /** The labels of the namespace of the load; those of the InjectorConfig's revision unless told. */
  namespaceLabels?: Record<string, string>;
  /** What must be there before the first pod, beside the InjectorConfig. */
  prepare?: () => Promise<void>;
  /** The marks that pods may carry; that of the InjectorConfig, `one`, unless told. */
  marks?: readonly string[];
}

/** Replicas with one InjectorConfig, pods that are created all along, and an observer of what the replicas serve: what a rotation must not disturb. */
export class RotatingCluster {
  readonly context: ScenarioContext;
  readonly name: string;
  readonly names: ReturnType<typeof objectNames>;
  readonly replicas: Replicas;
  readonly audit: AuditLog;
  readonly load: PodLoad;
  readonly losses: Losses;
  readonly observer: TlsObserver;
  readonly standstill: Standstill;
  #requests = 0;

  private constructor(
    context: ScenarioContext,
    name: string,
    parts: { replicas: Replicas; audit: AuditLog; load: PodLoad; observer: TlsObserver; standstill: Standstill },
  ) {
    this.context = context;
    this.name = name;
    this.names = objectNames(name);
    this.replicas = parts.replicas;
    this.audit = parts.audit;
    this.load = parts.load;
    this.losses = new Losses(context, parts.load, parts.audit);
    this.observer = parts.observer;
    this.standstill = parts.standstill;
  }

  /** Runs `story` with such a cluster, three webhook replicas and two controllers unless told, and ends load and observer however it ends. */
  static async run(
    context: ScenarioContext,
    options: RotatingOptions,
    story: (cluster: RotatingCluster) => Promise<string>,
  ): Promise<string> {
    const cluster = await RotatingCluster.#start(context, options);
    try {
      return await story(cluster);
    } finally {
      await cluster.stop();
    }
  }

  static async #start(context: ScenarioContext, options: RotatingOptions): Promise<RotatingCluster> {
    const { client } = context;
    const { name, certificate = shortTerms, perSecond = 30, marks = ['one'] } = options;
    const replicas = await context.startReplicas({ flags: rotatingFlags, ...options });
    await applyUntilReady(client, markedConfig(name, 'one', { certificate }));
    await options.prepare?.();
    const namespace = await context.namespace('pods', options.namespaceLabels ?? { 'istio.io/rev': name });
    const audit = context.requireAudit();
    const inspect = (pod: Pod) => markDefect(pod, (mark) => marks.includes(mark));
    const load = await PodLoad.start(client, { namespace, perSecond, inspect });
    const observer = TlsObserver.start({
      readBundle: () => readBundle(context, name),
      servername: serviceHostName(objectNames(name).service, replicas.installation.namespace),
      replicas: () => replicas.webhooks,
    });
    const standstill = Standstill.start(context.cluster);
    return new RotatingCluster(context, name, { replicas, audit, load, observer, standstill });
  }

  get namespace(): string {
    return this.replicas.installation.namespace;
  }

  async request(target: RotateTarget, name = this.name): Promise<string> {
    const nonce = `n${++this.#requests}`;
    const annotations = { [rotateAnnotation]: formatRotateRequest({ target, nonce }) };
    const config = markedConfig(name, 'one');
    await this.context.client.patch(config, 'merge', { metadata: { annotations } });
    return nonce;
  }

  async waitForDone(nonce: string, timeout = 60_000, name = this.name): Promise<void> {
    await waitFor(
      `request ${nonce} to be done`,
      async () => {
        const { rotateRequest, phase } = await this.status(name);
        if (rotateRequest?.nonce === nonce && rotateRequest.state === 'Done') return true;
        throw new Error(`status says ${JSON.stringify({ rotateRequest, phase })}`);
      },
      { timeout },
    );
  }

  async status(name = this.name): Promise<CertificateStatus> {
    const { status } = await this.context.client.get<InjectorConfigObject>(injectorConfigs, name);
    return status?.['certificate'] ?? {};
  }

  bundle(): Promise<string> {
    return readBundle(this.context, this.name);
  }

  async writeBundle(pem: string): Promise<void> {
    const caBundle = Buffer.from(pem).toString('base64');
    const labelSelector = `${labelNames.injectorConfig}=${this.name}`;
    const { items } = await this.context.client.listAll<WebhookConfiguration>(webhooks, { labelSelector });
    if (items.length === 0) throw new Error('there is no webhook configuration');
    for (const configuration of items) {
      const patch = { webhooks: redirected(configuration, { caBundle }) };
      await this.context.client.patch(configuration, 'merge', patch, { fieldManager: 'somebody' });
    }
  }

  /** Checks that since a time (milliseconds since 1970) the bundle verified every certificate that a replica was seen to serve. */
  async checkNoViolations(statement: string, since: number): Promise<void> {
    await this.observer.waitForRound();
    const violations = this.observer.violationsSince(since);
    for (const { description } of violations.slice(0, 5)) this.context.say(description);
    await this.context.checkNow(statement, () => violations.length === 0);
  }

  async secret(name: string): Promise<Record<string, string> | undefined> {
    const found = await this.context.client.find(resourceKind('v1', 'Secret'), name, { namespace: this.namespace });
    return found && decoded(found);
  }

  async writeSecret(name: string, text: Record<string, string>): Promise<void> {
    const secret = objectOf('v1', 'Secret', name, this.namespace);
    await this.context.client.patch(secret, 'merge', { data: encoded(text) }, { fieldManager: 'somebody' });
  }

  /** How many connections the API server has made to replicas in a time, in milliseconds since 1970. The observer's do not pass the balancer. */
  async apiServerHandshakes(from: number, to = Infinity): Promise<number> {
    const connections = await this.replicas.balancer.connections();
    return connections.filter(({ openedAt, bytesDown }) => openedAt >= from && openedAt <= to && bytesDown > 0).length;
  }

  /** Waits until a stretch of creations has lost nothing: after something that had to lose, API servers and replicas take notice of its end a moment late. */
  async waitForCalm(): Promise<void> {
    let since = Date.now();
    await waitFor(
      'pods to be created as before',
      () => {
        const { created, lost } = this.losses.report(since);
        if (lost.length === 0) return created >= 20;
        since = Date.now();
        return false;
      },
      { timeout: 30_000, interval: 200 },
    );
  }

  async stop(): Promise<void> {
    await Promise.all([this.load.stop(), this.observer.stop(), this.standstill.stop()]);
  }
}

/** The texts of a Secret. */
export function decoded(secret: KubernetesObject): Record<string, string> {
  const data = (secret['data'] ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

/** The same as they are stored. */
export function encoded(text: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}

async function readBundle({ client }: ScenarioContext, name: string): Promise<string> {
  const webhook = await client.find<WebhookConfiguration>(webhooks, objectNames(name).webhookConfiguration);
  const bundles = new Set(webhook?.webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? ''));
  if (bundles.size > 1) throw new Error('the webhooks of one configuration hold different bundles');
  const [bundle = ''] = bundles;
  return Buffer.from(bundle, 'base64').toString('utf8');
}
