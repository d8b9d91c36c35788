import { isDeepStrictEqual } from 'node:util';
import { type OperatorHealth, readOperatorHealth } from './operator-health.ts';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { istioKeys, type WebhookKeys } from '../../api/injector-config/webhook-keys.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { Labels } from '../../selection/label-selector.ts';
import type { ApiClient, ListOptions } from '../../kube/api-client.ts';
import { ApiError, ignoreNotFound } from '../../kube/api-error.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { UsageError } from '../terminal.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import * as kinds from '../../operator/cluster-view.ts';

type FamilyKeys = Omit<WebhookKeys, 'status'>;

/** The revisions and tags of a cluster, read at one time. */
export interface Installation {
  readonly configs: readonly InjectorConfig[];
  readonly tags: readonly RevisionTag[];
  /** Every MutatingWebhookConfiguration of the cluster, including those of other products. */
  readonly configurations: readonly KubernetesObject[];
  /** The labels of each namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  /** The health of the operators. */
  readonly health: OperatorHealth;
}

/**
 * Returns the InjectorConfig of a revision. If there are several, prefers (in this order, like the
 * operator) the tag's class, the family of its target, the name of the revision, and the oldest.
 * @param tag the existing tag, if there is one
 */
export function configOfRevision(
  { configs }: Pick<Installation, 'configs'>,
  revision: string,
  tag?: RevisionTag,
): InjectorConfig | undefined {
  const current = configs.find(({ metadata }) => metadata.name === tag?.status?.injectorConfig);
  const isNear = ({ spec }: InjectorConfig): boolean =>
    isDeepStrictEqual(spec.webhook.keys, current?.spec.webhook.keys);
  const rank = (config: InjectorConfig): string => {
    const { creationTimestamp = '', name } = config.metadata;
    const isOfClass = config.spec.operatorClass === tag?.spec.operatorClass;
    const preferences = [isOfClass, isNear(config), name === revision].map((holds) => (holds ? 0 : 1));
    return [...preferences, creationTimestamp, name].join(' ');
  };
  return configs
    .filter((config) => revisionOf(config) === revision && config.metadata.deletionTimestamp === undefined)
    .sort((one, other) => (rank(one) < rank(other) ? -1 : 1))[0];
}

/** Returns the InjectorConfig that a tag publishes, else the InjectorConfig of spec.revision. */
export function configOfTag(installation: Pick<Installation, 'configs'>, tag: RevisionTag): InjectorConfig | undefined {
  const { injectorConfig } = tag.status ?? {};
  const published = installation.configs.find(({ metadata }) => metadata.name === injectorConfig);
  return published ?? configOfRevision(installation, tag.spec.revision, tag);
}

/** Returns the label names by which namespaces follow a tag. */
export function keysOfTag(installation: Pick<Installation, 'configs'>, tag: RevisionTag): WebhookKeys {
  return configOfTag(installation, tag)?.spec.webhook.keys ?? istioKeys;
}

/** Returns the revision or tag in a namespace's labels; undefined if there is none. */
export function namedByNamespace(keys: FamilyKeys, namespace: Labels): string | undefined {
  const injection = namespace[keys.injection];
  if (injection !== undefined) return injection === 'enabled' ? defaultRevision : undefined;
  return namespace[keys.revision];
}

/**
 * Returns the revision or tag that the labels of a pod and its namespace select. As in Istio, the
 * namespace's injection label overrides its revision label, which overrides the pod's labels.
 */
export function namedByPod(keys: FamilyKeys, namespace: Labels, pod: Labels): string | undefined {
  if (pod[keys.inject] === 'false') return undefined;
  const isUnlabeled = namespace[keys.injection] === undefined && namespace[keys.revision] === undefined;
  if (!isUnlabeled) return namedByNamespace(keys, namespace);
  return pod[keys.revision] ?? (pod[keys.inject] === 'true' ? defaultRevision : undefined);
}

/** Returns the sorted names of the namespaces whose labels name a revision or tag. */
export function namespacesNaming(
  { namespaces }: Pick<Installation, 'namespaces'>,
  keys: WebhookKeys,
  name: string,
): string[] {
  return [...namespaces].flatMap(([each, labels]) => (namedByNamespace(keys, labels) === name ? [each] : [])).sort();
}

/** @throws UsageError when the namespace of `--namespace` does not exist */
export function requireNamespace(name: string | undefined, { namespaces }: Pick<Installation, 'namespaces'>): void {
  if (name === undefined || namespaces.has(name)) return;
  throw new UsageError(`--namespace: there is no namespace ${name}; ${namesThere(name, namespaces.keys())}`);
}

/** Like {@link requireNamespace}; without the right to list namespaces, any name is accepted. */
export async function requireNamespaceIn(client: Pick<ApiClient, 'listAll'>, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const listed = await client.listAll(kinds.namespaces).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
  });
  if (listed === undefined) return;
  requireNamespace(name, { namespaces: new Map(listed.items.map(({ metadata }) => [metadata.name ?? '', {}])) });
}

/**
 * Reads the revisions and tags of a cluster.
 * @param readHealth reads the health of the operators of some classes
 */
export async function readInstallation(
  client: Pick<ApiClient, 'listAll'>,
  readHealth = (classes: readonly string[]): Promise<OperatorHealth> => readOperatorHealth(client, classes),
): Promise<Installation> {
  const [configs, tags, { items: configurations }, { items: namespaces }] = await Promise.all([
    listWhereKnown(client, kinds.injectorConfigs),
    listWhereKnown(client, kinds.revisionTags),
    client.listAll(kinds.mutatingWebhooks),
    client.listAll(kinds.namespaces),
  ]);
  const parsed = {
    configs: configs.map((object) => parseInjectorConfig(object)),
    tags: tags.map((object) => parseRevisionTag(object)),
  };
  const classes = [...parsed.configs, ...parsed.tags].map(({ spec }) => spec.operatorClass);
  return {
    ...parsed,
    health: await readHealth(classes),
    configurations,
    namespaces: new Map(namespaces.map(({ metadata: { name = '', labels = {} } }) => [name, labels])),
  };
}

/** Visits the objects of a collection page by page, so that not all of them are in memory. */
export async function forEachItem(
  client: Pick<ApiClient, 'list'>,
  resource: ResourceKind,
  { namespace, limit = 500 }: Pick<ListOptions, 'namespace' | 'limit'>,
  visit: (item: KubernetesObject) => void,
): Promise<void> {
  let token: string | undefined;
  do {
    const page = await client.list(resource, { namespace, limit, continue: token });
    page.items.forEach(visit);
    token = page.continue;
  } while (token !== undefined);
}

/** Lists all objects of a kind; returns none if the CRD does not exist. */
export async function listWhereKnown(
  client: Pick<ApiClient, 'listAll'>,
  kind: ResourceKind,
  labelSelector?: string,
): Promise<KubernetesObject[]> {
  const list = await client.listAll(kind, { labelSelector }).catch(ignoreNotFound);
  return list?.items ?? [];
}
