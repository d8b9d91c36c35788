import { Random } from '../../../scripts/template-recorder/random.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../../src/kube/kube-config.ts';
import type { Logger } from '../../../src/kube/ports.ts';
import { objectOf } from '../../harness/apply.ts';
import type { AuditEvent, AuditLog } from '../../harness/audit-log.ts';
import type { ControlPlane } from '../../harness/control-plane.ts';
import { FaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts';
import { alignColumns } from '../../harness/pod-table.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../../harness/service-account.ts';
import { Standstill } from '../../harness/standstill/standstill.ts';

interface Comparison {
  part: string;
  figure: string;
  ours: string;
  clientGo: string;
}

const account = 'machinery';

/** Where the parts of src/kube are tried: the real API server, behind a proxy that can fail, and a note of what each client asked for. */
export class Workbench {
  readonly context: ScenarioContext;
  readonly plane: ControlPlane;
  readonly proxy: FaultyProxy;
  /** Beside which bounds in milliseconds are held. */
  readonly standstill: Standstill;
  readonly random: Random;
  readonly namespace: string;
  readonly #audit: AuditLog;
  readonly #kubeconfig: string;
  readonly #clients: ApiClient[] = [];
  readonly #comparisons: Comparison[] = [];

  private constructor(
    context: ScenarioContext,
    parts: { plane: ControlPlane; audit: AuditLog; proxy: FaultyProxy; namespace: string; kubeconfig: string },
  ) {
    this.context = context;
    this.plane = parts.plane;
    this.proxy = parts.proxy;
    this.standstill = Standstill.start(context.cluster);
    this.namespace = parts.namespace;
    this.random = new Random(context.seed);
    this.#audit = parts.audit;
    this.#kubeconfig = parts.kubeconfig;
  }

  static async open(context: ScenarioContext): Promise<Workbench> {
    const { cluster, client } = context;
    const audit = context.startAudit();
    if (cluster.controlPlane === undefined || audit === undefined) {
      throw new Error('this scenario needs the embedded control plane');
    }
    const namespace = await context.namespace('work');
    await client.create(objectOf('v1', 'ServiceAccount', account, namespace));
    await client.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    });
    const proxy = await FaultyProxy.start(cluster, context.seed);
    // Tokens pass the proxy, the administrator's certificate does not.
    const kubeconfig = await serviceAccountKubeconfig(cluster, namespace, account, undefined, proxy.url);
    return new Workbench(context, { plane: cluster.controlPlane, audit, proxy, namespace, kubeconfig });
  }

  /** A client through the proxy; its name is how faults and the audit log know it, so no name may be part of another. */
  client(name: string): ApiClient {
    const client = new ApiClient(loadKubeConfig({ kubeconfig: this.#kubeconfig }), { userAgent: name });
    this.#clients.push(client);
    return client;
  }

  requestsOf(name: string): AuditEvent[] {
    return this.#audit.events().filter(({ userAgent }) => userAgent === name);
  }

  /** `patch 200` and the like: what a client wrote, and how each write ended. */
  writesOf(name: string): string[] {
    return this.requestsOf(name)
      .filter(({ verb }) => ['create', 'update', 'patch', 'delete'].includes(verb))
      .map(({ verb, responseStatus }) => `${verb} ${responseStatus?.code ?? '?'}`);
  }

  compare(part: string, figure: string, ours: string, clientGo: string): void {
    this.#comparisons.push({ part, figure, ours, clientGo });
  }

  report(): void {
    const rows = this.#comparisons.map(({ part, figure, ours, clientGo }) => [part, figure, ours, clientGo]);
    const table = alignColumns([['PART', 'FIGURE', 'OURS', 'CLIENT-GO'], ...rows]);
    for (const line of table.split('\n')) this.context.say(line);
    this.context.measured(
      Object.fromEntries(this.#comparisons.map(({ part, figure, ours }) => [`${part}: ${figure}`, ours])),
    );
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    await Promise.all([this.proxy.stop(), this.standstill.stop()]);
    await this.context.client.delete(objectOf('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', this.namespace));
  }
}

/** A ConfigMap to work with. */
export function configMap(
  namespace: string,
  name: string,
  options: { labels?: Record<string, string>; data?: Record<string, string> } = {},
): KubernetesObject {
  const { labels = {}, data = {} } = options;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
}

interface NotedLine {
  /** Milliseconds since 1970. */
  at: number;
  message: string;
  fields: Record<string, unknown>;
}

/** A logger that keeps what it is told, oldest first. */
export class NotedLog implements Logger {
  readonly lines: NotedLine[] = [];

  error(message: string, fields: Record<string, unknown> = {}): void {
    this.lines.push({ at: Date.now(), message, fields });
  }

  warn(message: string, fields: Record<string, unknown> = {}): void {
    this.lines.push({ at: Date.now(), message, fields });
  }

  info(message: string, fields: Record<string, unknown> = {}): void {
    this.lines.push({ at: Date.now(), message, fields });
  }

  debug(message: string, fields: Record<string, unknown> = {}): void {
    this.lines.push({ at: Date.now(), message, fields });
  }
}
