import { apiVersion, injectorConfigKind } from '../../api/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { parseInjectorConfig } from '../../api/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/parse-revision-tag.ts';
import { revisionTagKind } from '../../api/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isNotFound } from '../../kube/api-error.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import type { Installation } from './installation.ts';

const configKind = resourceKind(apiVersion, injectorConfigKind);
const tagKind = resourceKind(apiVersion, revisionTagKind);
const webhookKind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
const namespaceKind = resourceKind('v1', 'Namespace');
const podKind = resourceKind('v1', 'Pod');

/** Reads what revisions and tags there are. */
export async function readInstallation(client: Pick<ApiClient, 'listAll'>): Promise<Installation> {
  const [configs, tags, { items: configurations }, { items: namespaces }] = await Promise.all([
    listWhereKnown(client, configKind),
    listWhereKnown(client, tagKind),
    client.listAll(webhookKind),
    client.listAll(namespaceKind),
  ]);
  return {
    configs: configs.map((object) => parseInjectorConfig(object)),
    tags: tags.map((object) => parseRevisionTag(object)),
    configurations,
    namespaces: new Map(namespaces.map(({ metadata: { name = '', labels = {} } }) => [name, labels])),
  };
}

/** Reads pods page by page and keeps none of them. */
export async function forEachPod(
  client: Pick<ApiClient, 'list'>,
  namespace: string | undefined,
  visit: (pod: KubernetesObject) => void,
): Promise<void> {
  let token: string | undefined;
  do {
    const page = await client.list(podKind, { namespace, limit: 500, continue: token });
    for (const pod of page.items) visit(pod);
    token = page.continue;
  } while (token !== undefined);
}

/** All objects of a kind of ours; none where the cluster does not know it. */
async function listWhereKnown(client: Pick<ApiClient, 'listAll'>, kind: ResourceKind): Promise<KubernetesObject[]> {
  try {
    return (await client.listAll(kind)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
