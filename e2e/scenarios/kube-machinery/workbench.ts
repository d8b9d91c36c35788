import { Random } from '../../../scripts/template-recorder/random.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../../src/kube/kube-config.ts';
import type { Logger } from '../../../src/kube/ports.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../../harness/apply.ts';
import type { AuditEvent } from '../../harness/audit-log.ts';
import { startFaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { administratorKubeconfig } from '../../harness/service-account.ts';

export type Workbench = Awaited<ReturnType<typeof openWorkbench>>;

/**
 * Opens the environment for checks of src/kube: the API server behind a faulty proxy, and a record
 * of each client's requests. The environment ends with the scenario.
 */
export async function openWorkbench(context: ScenarioContext) {
  const { cluster, client, seed } = context;
  const plane = context.requireControlPlane();
  const namespace = await context.namespace('work');
  const proxy = await startFaultyProxy(cluster, seed);
  context.atEnd(() => proxy.stop());
  // The proxy passes tokens, but not the administrator's certificate.
  const kubeconfig = await administratorKubeconfig(cluster, namespace, 'machinery', proxy.url);
  context.atEnd(() => client.delete(objectOf('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', namespace)));
  const audit = context.requireAudit();
  const requestsOf = (name: string): AuditEvent[] => audit.events().filter(({ userAgent }) => userAgent === name);
  return {
    context,
    plane,
    proxy,
    namespace,
    /** Measures stalls of the machine. Checks add the stalls to their time limits. */
    standstill: context.standstill(),
    random: new Random(seed),
    /** Creates a client; faults and the audit log use its name. No name may contain another. */
    client: (name: string): ApiClient => {
      const through = new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: name });
      context.atEnd(() => through.close());
      return through;
    },
    requestsOf,
    /** Returns a client's writes with their status codes, such as `patch 200`. */
    writesOf: (name: string): string[] =>
      requestsOf(name)
        .filter(({ verb }) => ['create', 'update', 'patch', 'delete'].includes(verb))
        .map(({ verb, responseStatus }) => `${verb} ${responseStatus?.code ?? '?'}`),
  };
}

export const configMaps = resourceKind('v1', 'ConfigMap');

export function configMap(
  namespace: string,
  name: string,
  options: { labels?: Record<string, string>; data?: Record<string, string> } = {},
): KubernetesObject {
  const { labels = {}, data = {} } = options;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
}

/** A logger that keeps its lines, oldest first. */
export class NotedLog implements Logger {
  /** The lines. `at` is in milliseconds since 1970. */
  readonly lines: { at: number; message: string; fields: Record<string, unknown> }[] = [];
  readonly error = this.#note.bind(this);
  readonly warn = this.#note.bind(this);
  readonly info = this.#note.bind(this);
  readonly debug = this.#note.bind(this);

  #note(message: string, fields: Record<string, unknown> = {}): void {
    this.lines.push({ at: Date.now(), message, fields });
  }
}
