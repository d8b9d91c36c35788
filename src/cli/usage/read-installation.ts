import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isNotFound } from '../../kube/api-error.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import type { Installation } from './installation.ts';
import { readOperatorHealth } from './operator-health.ts';
import {
  injectorConfigs,
  mutatingWebhooks,
  namespaces as namespaceKind,
  pods,
  revisionTags,
} from '../../operator/cluster-view.ts';

/** Reads what revisions and tags there are. */
export async function readInstallation(client: Pick<ApiClient, 'listAll'>): Promise<Installation> {
  const [configs, tags, { items: configurations }, { items: namespaces }] = await Promise.all([
    listWhereKnown(client, injectorConfigs),
    listWhereKnown(client, revisionTags),
    client.listAll(mutatingWebhooks),
    client.listAll(namespaceKind),
  ]);
  const parsed = {
    configs: configs.map((object) => parseInjectorConfig(object)),
    tags: tags.map((object) => parseRevisionTag(object)),
  };
  const classes = [...parsed.configs, ...parsed.tags].map(({ spec }) => spec.operatorClass);
  return {
    ...parsed,
    health: await readOperatorHealth(client, classes),
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
    const page = await client.list(pods, { namespace, limit: 500, continue: token });
    for (const pod of page.items) visit(pod);
    token = page.continue;
  } while (token !== undefined);
}

/** All objects of a kind of ours; none where the cluster does not know it: there may still be webhooks. */
export async function listWhereKnown(
  client: Pick<ApiClient, 'listAll'>,
  kind: ResourceKind,
): Promise<KubernetesObject[]> {
  try {
    return (await client.listAll(kind)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
