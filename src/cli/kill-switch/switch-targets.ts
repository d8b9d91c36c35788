import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, objectNames, tagWebhookConfiguration, pathProbeName } from '../../api/names.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { routeOf } from '../../routing/route.ts';
import { UsageError } from '../terminal.ts';
import { injectorConfigs, mutatingWebhooks } from '../../operator/cluster-view.ts';
import { listWhereKnown } from '../usage/installation.ts';
import { ourWebhooksOf, webhooksOf } from '../../operator/webhooks/published-webhook.ts';

/** Which injectors are meant: some revisions, or all of them. */
export interface SwitchSelection {
  readonly revision?: readonly string[];
  readonly all?: true;
}

/** What a selection comes to on a cluster. */
export interface SwitchTargets {
  readonly configs: readonly KubernetesObject[];
  /** The webhook configurations that lead to them, tags' too, also those of InjectorConfigs that are gone. */
  readonly webhooks: readonly KubernetesObject[];
  /** Whether a webhook configuration of ours, as it is by now, is one of them: what a living operator has led elsewhere meanwhile is not. */
  readonly isMeant: (webhook: KubernetesObject) => boolean;
  /** What somebody may have meant as well, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * Finds what is meant, with nothing but the API server: by the labels of our webhook configurations, and by name where somebody took those off.
 * @throws UsageError naming the revisions there are, when one that is asked for is not among them
 */
export async function switchTargets(
  client: Pick<ApiClient, 'listAll'>,
  { revision: revisions = [], all }: SwitchSelection,
): Promise<SwitchTargets> {
  const configs = await listWhereKnown(client, injectorConfigs);
  const { items } = await client.listAll(mutatingWebhooks);
  const webhooks = items.filter((webhook) => isOurs(webhook, configs));
  if (all === true) return { configs, webhooks, isMeant: () => true, notes: [] };
  const known = new Set([...configs.map(revisionOf), ...webhooks.flatMap((webhook) => revisionIn(webhook) ?? [])]);
  const unknown = revisions.filter((each) => !known.has(each));
  if (unknown.length > 0) {
    const tags = tagNotes(webhooks, unknown).map((note) => `; ${note}`);
    const what = `--revision: no InjectorConfig and no webhook has the revision ${unknown.join(', ')}`;
    throw new UsageError(`${what}; ${namesThere(unknown[0] ?? '', known)}${tags.join('')}`);
  }
  const chosen = configs.filter((config) => revisions.includes(revisionOf(config)));
  const names = new Set(chosen.map(({ metadata }) => metadata.name ?? ''));
  const isMeant = (webhook: KubernetesObject): boolean => isOfAny(webhook, names, revisions);
  const others = webhooks.filter((webhook) => !isMeant(webhook));
  return { configs: chosen, webhooks: webhooks.filter(isMeant), isMeant, notes: tagNotes(others, revisions) };
}

/** Of tags that are called like a revision that is meant, and lead elsewhere. */
function tagNotes(webhooks: readonly KubernetesObject[], names: readonly string[]): string[] {
  return webhooks.flatMap((webhook) => {
    const tag = webhook.metadata.labels?.[labelNames.tag];
    const revision = revisionIn(webhook);
    if (tag === undefined || revision === undefined || !names.includes(tag)) return [];
    return [`tag ${tag} leads to revision ${revision}: name that to take it out of the way`];
  });
}

/** @throws UsageError unless the selection is one of the two */
export function checkSelection({ revision = [], all }: SwitchSelection): void {
  if ((all === true) === revision.length > 0)
    throw new UsageError('say which injectors: --revision NAME (as often as wanted) or --all, one of the two');
}

/** The revision of an InjectorConfig as the API server stores it. */
export function revisionOf({ metadata, spec }: KubernetesObject): string {
  return (spec as { revision?: string } | undefined)?.revision ?? metadata.name ?? '';
}

/** By its label, or where it calls: tags' webhooks that lead to a revision stop pods as its own do. What leads to another one is that one's. */
function isOfAny(webhook: KubernetesObject, names: ReadonlySet<string>, revisions: readonly string[]): boolean {
  const called = calledConfigs(webhook);
  if (called.some((name) => names.has(name))) return true;
  const revision = revisionIn(webhook);
  if (revision !== undefined) return revisions.includes(revision);
  const isNamedSo = [...names].some((name) => ownNames(name).includes(webhook.metadata.name ?? ''));
  return called.length === 0 && isNamedSo;
}

/** The InjectorConfigs that the webhooks of a configuration call, by their paths. */
function calledConfigs(configuration: KubernetesObject): string[] {
  return webhooksOf(configuration).flatMap(({ clientConfig }) => {
    const route = routeOf(clientConfig);
    if (route === undefined) return [];
    const { stable, canary } = route;
    // While it is only tried, the canary stops nobody.
    return [stable, ...(canary === undefined || route.shadow ? [] : [canary])].map((ref) => ref.injectorConfig);
  });
}

function revisionIn(webhook: KubernetesObject): string | undefined {
  return webhook.metadata.labels?.[labelNames.revision];
}

function ownNames(name: string): string[] {
  return [objectNames(name).webhookConfiguration, pathProbeName(name)];
}

/** What the operator has written; the empty configuration of the chart that owns these is not. */
function isOurs(webhook: KubernetesObject, configs: readonly KubernetesObject[]): boolean {
  const { labels = {}, name = '' } = webhook.metadata;
  if (labels[labelNames.managedBy] === managedBy) return true;
  const isNamedSo = configs.some(({ metadata }) => ownNames(metadata.name ?? '').includes(name));
  const isNamedAsTag = name.startsWith(tagWebhookConfiguration(''));
  return (isNamedSo || isNamedAsTag) && ourWebhooksOf(webhook).length > 0;
}
