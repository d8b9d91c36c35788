import { isDeepStrictEqual } from 'node:util';
import { type OperatorHealth, readOperatorHealth } from './operator-health.ts';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { istioKeys, type WebhookKeys } from '../../api/injector-config/webhook-keys.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ignoreNotFound } from '../../kube/api-error.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { UsageError } from '../terminal.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import {
  injectorConfigs,
  mutatingWebhooks,
  namespaces as namespaceKind,
  pods,
  revisionTags,
} from '../../operator/cluster-view.ts';

export type Labels = Readonly<Record<string, string>>;
type FamilyKeys = Omit<WebhookKeys, 'status'>;

/** What revisions and tags there are on a cluster, as read at one moment. */
export interface Installation {
  readonly configs: readonly InjectorConfig[];
  readonly tags: readonly RevisionTag[];
  /** Every MutatingWebhookConfiguration of the cluster, ours or not. */
  readonly configurations: readonly KubernetesObject[];
  /** Namespace → its labels. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  /** Who keeps all of it true. */
  readonly health: OperatorHealth;
}

/**
 * The InjectorConfig of a revision. Of several, as the operator chooses: one of the tag's class, of the family where the tag leads, called like the
 * revision, the oldest.
 * @param tag for which it is asked, if there is one already
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

/** The InjectorConfig to which a tag leads now: what is in force, and what is asked for while nothing is. */
export function configOfTag(installation: Pick<Installation, 'configs'>, tag: RevisionTag): InjectorConfig | undefined {
  const { injectorConfig } = tag.status ?? {};
  const inForce = installation.configs.find(({ metadata }) => metadata.name === injectorConfig);
  return inForce ?? configOfRevision(installation, tag.spec.revision, tag);
}

/** The label names by which a tag is followed. */
export function keysOfTag(installation: Pick<Installation, 'configs'>, tag: RevisionTag): WebhookKeys {
  return configOfTag(installation, tag)?.spec.webhook.keys ?? istioKeys;
}

/** The revision or tag that a namespace's labels name; undefined when they name none, or turn injection off. */
export function namedByNamespace(keys: FamilyKeys, namespace: Labels): string | undefined {
  const injection = namespace[keys.injection];
  if (injection !== undefined) return injection === 'enabled' ? defaultRevision : undefined;
  return namespace[keys.revision];
}

/**
 * The revision or tag that the labels of a pod and its namespace name, with Istio's precedence: the namespace's injection label beats its
 * revision label, which beats the pod's; a pod that opts out names none.
 */
export function namedByPod(keys: FamilyKeys, namespace: Labels, pod: Labels): string | undefined {
  if (pod[keys.inject] === 'false') return undefined;
  const isNamespaceSilent = namespace[keys.injection] === undefined && namespace[keys.revision] === undefined;
  if (!isNamespaceSilent) return namedByNamespace(keys, namespace);
  return pod[keys.revision] ?? (pod[keys.inject] === 'true' ? defaultRevision : undefined);
}

/** The names of the namespaces whose labels name a revision or tag, sorted. */
export function namespacesNaming(
  { namespaces }: Pick<Installation, 'namespaces'>,
  keys: WebhookKeys,
  name: string,
): string[] {
  return [...namespaces].flatMap(([each, labels]) => (namedByNamespace(keys, labels) === name ? [each] : [])).sort();
}

/** @throws UsageError unless the namespace of `--namespace` is there, or none is named */
export function requireNamespace(name: string | undefined, { namespaces }: Pick<Installation, 'namespaces'>): void {
  if (name === undefined || namespaces.has(name)) return;
  throw new UsageError(`--namespace: there is no namespace ${name}; ${namesThere(name, namespaces.keys())}`);
}

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
  labelSelector?: string,
): Promise<KubernetesObject[]> {
  const list = await client.listAll(kind, { labelSelector }).catch(ignoreNotFound);
  return list?.items ?? [];
}
