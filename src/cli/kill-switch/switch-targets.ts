import { group } from '../../api/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { labelNames, managedBy } from '../../api/labels.ts';
import { objectNames } from '../../api/names.ts';
import { pathProbeName } from '../../api/path-probe.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isNotFound } from '../../kube/api-error.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { UsageError } from '../usage-error.ts';

const injectorConfigs = resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig');
const mutatingWebhooks = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');

/** Which injectors are meant: some revisions, or all of them. */
export interface SwitchSelection {
  readonly revision?: readonly string[];
  readonly all?: true;
}

/** What a selection comes to on a cluster. */
export interface SwitchTargets {
  readonly configs: readonly KubernetesObject[];
  /** The webhook configurations that they have, also those of InjectorConfigs that are gone. */
  readonly webhooks: readonly KubernetesObject[];
}

/**
 * Finds what is meant, with nothing but the API server: by the labels of our webhook configurations, and by name where somebody took those off.
 * @throws UsageError when the selection is neither or both
 * @throws Error naming the revisions there are, when one that is asked for is not among them
 */
export async function switchTargets(
  client: Pick<ApiClient, 'listAll'>,
  { revision: revisions = [], all }: SwitchSelection,
): Promise<SwitchTargets> {
  checkSelection({ revision: revisions, ...(all === undefined ? {} : { all }) });
  const configs = await listConfigs(client);
  const { items } = await client.listAll(mutatingWebhooks);
  const webhooks = items.filter((webhook) => isOurs(webhook, configs));
  if (all === true) return { configs, webhooks };
  const known = new Set([...configs.map(revisionOf), ...webhooks.flatMap((webhook) => revisionIn(webhook) ?? [])]);
  const unknown = revisions.filter((each) => !known.has(each));
  if (unknown.length > 0) {
    const there = known.size === 0 ? 'there is none on this cluster' : `there are ${[...known].sort().join(', ')}`;
    throw new Error(`--revision: no InjectorConfig and no webhook has the revision ${unknown.join(', ')}; ${there}`);
  }
  const chosen = configs.filter((config) => revisions.includes(revisionOf(config)));
  const named = new Set(chosen.flatMap(namesOf));
  return {
    configs: chosen,
    webhooks: webhooks.filter((webhook) => {
      return revisions.includes(revisionIn(webhook) ?? '') || named.has(webhook.metadata.name ?? '');
    }),
  };
}

/** @throws UsageError unless the selection is one of the two */
export function checkSelection({ revision = [], all }: SwitchSelection): void {
  if ((all === true) === revision.length > 0) {
    throw new UsageError('say which injectors: --revision NAME (as often as wanted) or --all, one of the two');
  }
}

/** The InjectorConfigs of the cluster; none where their kind is not known. */
export async function listConfigs(client: Pick<ApiClient, 'listAll'>): Promise<KubernetesObject[]> {
  try {
    return (await client.listAll(injectorConfigs)).items;
  } catch (error) {
    // Without the CRD there may still be webhooks.
    if (isNotFound(error)) return [];
    throw error;
  }
}

function revisionOf({ metadata, spec }: KubernetesObject): string {
  return (spec as { revision?: string } | undefined)?.revision ?? metadata.name ?? '';
}

function revisionIn(webhook: KubernetesObject): string | undefined {
  return webhook.metadata.labels?.[labelNames.revision];
}

function namesOf({ metadata: { name = '' } }: KubernetesObject): string[] {
  return [objectNames(name).webhookConfiguration, pathProbeName(name)];
}

/** What the operator has written; the empty configuration of the chart that owns these is not. */
function isOurs(webhook: KubernetesObject, configs: readonly KubernetesObject[]): boolean {
  const { labels = {}, name = '' } = webhook.metadata;
  if (labels[labelNames.managedBy] === managedBy) return true;
  const webhooks = (webhook.webhooks ?? []) as { name?: string }[];
  const isNamedSo = configs.some((config) => namesOf(config).includes(name));
  return isNamedSo && webhooks.some((each) => each.name?.endsWith(`.${group}`) === true);
}
