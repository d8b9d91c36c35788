import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourcePath } from '../../src/kube/resource-kinds.ts';
import type { Cluster } from './cluster.ts';
import type { Pod } from './pod.ts';

/** Bound tokens of long runs must not expire in the middle. */
const tokenLifeSeconds = 86_400;

/**
 * Writes a kubeconfig that acts as a ServiceAccount (TokenRequest API), so that its rights and nothing more are what is tested.
 *
 * @param pod the pod that the token is bound to, as a kubelet would do it: the audit log then names the replica
 * @param server another address of the API server: a proxy's that serves with its certificate
 * @returns the file's path
 */
export async function serviceAccountKubeconfig(
  cluster: Cluster,
  namespace: string,
  name: string,
  pod: Pod | undefined,
  server?: string,
): Promise<string> {
  const token = await requestToken(cluster.client, namespace, name, pod);
  const base = loadKubeConfig({ kubeconfig: cluster.kubeconfig, context: cluster.context });
  const current = base.getCurrentCluster();
  if (current === null) throw new Error('the kubeconfig names no cluster');
  const file = join(cluster.run.path, `${namespace}-${pod?.metadata.name ?? name}.kubeconfig`);
  const authority =
    current.caData === undefined
      ? { 'certificate-authority': current.caFile }
      : { 'certificate-authority-data': current.caData };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server: server ?? current.server, ...authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user: name, namespace } }],
    'current-context': 'cluster',
  };
  writeFileSync(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  return file;
}

async function requestToken(client: ApiClient, namespace: string, name: string, pod: Pod | undefined): Promise<string> {
  const path = resourcePath(
    { group: '', version: 'v1', plural: 'serviceaccounts' },
    { namespace, name, subresource: 'token' },
  );
  const bound = { apiVersion: 'v1', kind: 'Pod', name: pod?.metadata.name, uid: pod?.metadata.uid };
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: tokenLifeSeconds, ...(pod === undefined ? {} : { boundObjectRef: bound }) },
  };
  const answer = (await client.request('POST', path, { body: JSON.stringify(body) })) as { status: { token: string } };
  return answer.status.token;
}
