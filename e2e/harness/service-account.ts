import { join } from 'node:path';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { objectOf } from './apply.ts';
import type { Cluster } from './cluster.ts';
import { writeKubeconfig } from './control-plane.ts';
import type { Pod } from './pod.ts';

/** The lifetime of bound tokens in seconds, which is longer than the longest run. */
const tokenLifeSeconds = 86_400;

/**
 * Writes a kubeconfig with a ServiceAccount's token (TokenRequest API), so that a process has
 * exactly the rights of the ServiceAccount. Returns the path.
 *
 * @param pod the pod that the token is bound to, so that the audit log names the replica
 * @param server another address of the API server, such as that of a proxy
 */
export async function serviceAccountKubeconfig(
  { client, kubeconfig, context, run }: Cluster,
  namespace: string,
  name: string,
  pod: Pod | undefined,
  server?: string,
): Promise<string> {
  const token = await requestToken(client, namespace, name, pod);
  const base = loadKubeConfig({ kubeconfig, context });
  const current = base.getCurrentCluster();
  if (current === null) throw new Error('the kubeconfig has no current cluster');
  const file = join(run.path, `${namespace}-${pod?.metadata.name ?? name}.kubeconfig`);
  const authority =
    current.caData === undefined
      ? { 'certificate-authority': current.caFile }
      : { 'certificate-authority-data': current.caData };
  const cluster = { server: server ?? current.server, ...authority };
  return writeKubeconfig(file, { cluster, user: name, credentials: { token }, namespace });
}

/** Creates a ServiceAccount with all rights. Returns the path of a kubeconfig with its token. */
export async function administratorKubeconfig(cluster: Cluster, namespace: string, name: string, server?: string) {
  await cluster.client.create(objectOf('v1', 'ServiceAccount', name, namespace));
  await cluster.client.create({
    ...objectOf('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', namespace),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  return serviceAccountKubeconfig(cluster, namespace, name, undefined, server);
}

async function requestToken(client: ApiClient, namespace: string, name: string, pod: Pod | undefined): Promise<string> {
  const path = resourcePath(resourceKind('v1', 'ServiceAccount'), { namespace, name, subresource: 'token' });
  const bound = { apiVersion: 'v1', kind: 'Pod', name: pod?.metadata.name, uid: pod?.metadata.uid };
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: tokenLifeSeconds, ...(pod === undefined ? {} : { boundObjectRef: bound }) },
  };
  const answer = (await client.request('POST', path, { body: JSON.stringify(body) })) as { status: { token: string } };
  return answer.status.token;
}
