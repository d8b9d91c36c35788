import type { Command } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, objectNames, tagWebhookConfiguration, pathProbeName } from '../../api/names.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { routeOf } from '../../routing/route.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { injectorConfigs, mutatingWebhooks } from '../../operator/cluster-view.ts';
import { listWhereKnown } from '../usage/installation.ts';
import { ourWebhooksOf, webhooksOf } from '../../operator/webhooks/published-webhook.ts';

/** The options of `disable`, `enable` and `release`. */
export interface SwitchOptions extends ClusterOptions {
  /** The revisions of the selected injectors. */
  readonly revision?: readonly string[];
  readonly all?: true;
  readonly dryRun?: true;
}

export function switchCommand(name: string, description: string): Command {
  return clusterCommand(name, description)
    .argument('[revision...]', 'the revisions to select')
    .option('-r, --revision <name...>', 'the same; a later release removes this flag')
    .option('--all', 'all injectors of the cluster')
    .option('--dry-run', 'print the changes without making them');
}

/**
 * Runs a command; exit status 1 if a change failed.
 * @param names the revisions among the arguments, which join those of --revision
 * @throws UsageError unless either revisions or --all are given
 */
export async function onCluster<Options extends SwitchOptions>(
  names: readonly string[],
  options: Options,
  terminal: Terminal,
  act: (client: ApiClient, options: Options, terminal: Terminal) => Promise<boolean>,
): Promise<void> {
  const revision = [...names, ...(options.revision ?? [])];
  if ((options.all === true) === revision.length > 0)
    throw new UsageError('name the injectors: one or more revisions, or --all, but not both');
  const isDone = await withCluster(options, (client) => act(client, { ...options, revision }, terminal));
  if (!isDone) terminal.setExitCode(exitCodes.failure);
}

/** The selected objects of a cluster. */
export interface SwitchTargets {
  readonly configs: readonly KubernetesObject[];
  /** The selected webhook configurations, including those of tags and deleted InjectorConfigs. */
  readonly webhooks: readonly KubernetesObject[];
  /** Reports whether a webhook configuration is still selected in its current version. */
  readonly isSelected: (webhook: KubernetesObject) => boolean;
  /** Hints about tags that the user may have meant. */
  readonly notes: readonly string[];
}

/**
 * Finds the selected objects by the labels of our webhook configurations, or by their names and
 * paths if the labels are gone.
 * @throws UsageError that lists the revisions, if a requested revision does not exist
 */
export async function switchTargets(
  client: Pick<ApiClient, 'listAll'>,
  { revision: revisions = [], all }: Pick<SwitchOptions, 'revision' | 'all'>,
): Promise<SwitchTargets> {
  const configs = await listWhereKnown(client, injectorConfigs);
  const { items } = await client.listAll(mutatingWebhooks);
  const webhooks = items.filter((webhook) => isOurs(webhook, configs));
  if (all === true) return { configs, webhooks, isSelected: () => true, notes: [] };
  const known = new Set([...configs.map(storedRevision), ...webhooks.flatMap((webhook) => revisionIn(webhook) ?? [])]);
  const unknown = revisions.filter((each) => !known.has(each));
  if (unknown.length > 0) {
    const tags = tagNotes(webhooks, unknown).map((note) => `; ${note}`);
    const what = `no InjectorConfig and no webhook has the revision ${unknown.join(', ')}`;
    throw new UsageError(`${what}; ${namesThere(unknown[0] ?? '', known)}${tags.join('')}`);
  }
  const chosen = configs.filter((config) => revisions.includes(storedRevision(config)));
  const names = new Set(chosen.map(({ metadata }) => metadata.name ?? ''));
  const isSelected = (webhook: KubernetesObject): boolean => isOfAny(webhook, names, revisions);
  const others = webhooks.filter((webhook) => !isSelected(webhook));
  return { configs: chosen, webhooks: webhooks.filter(isSelected), isSelected, notes: tagNotes(others, revisions) };
}

/** Returns hints about tags that have the name of a requested revision but another target. */
function tagNotes(webhooks: readonly KubernetesObject[], names: readonly string[]): string[] {
  return webhooks.flatMap((webhook) => {
    const tag = webhook.metadata.labels?.[labelNames.tag];
    const revision = revisionIn(webhook);
    if (tag === undefined || revision === undefined || !names.includes(tag)) return [];
    return [`tag ${tag} points to revision ${revision}: name that revision to disable the tag`];
  });
}

/** Returns the revision of a stored InjectorConfig. */
export function storedRevision({ metadata, spec }: KubernetesObject): string {
  return (spec as { revision?: string } | undefined)?.revision ?? metadata.name ?? '';
}

/** Matches by path, else by label, else by name. A tag matches each revision in its path. */
function isOfAny(webhook: KubernetesObject, names: ReadonlySet<string>, revisions: readonly string[]): boolean {
  const called = calledConfigs(webhook);
  if (called.some((name) => names.has(name))) return true;
  const revision = revisionIn(webhook);
  if (revision !== undefined) return revisions.includes(revision);
  const hasName = [...names].some((name) => ownNames(name).includes(webhook.metadata.name ?? ''));
  return called.length === 0 && hasName;
}

/** Returns the InjectorConfigs in the paths of a webhook configuration. */
function calledConfigs(configuration: KubernetesObject): string[] {
  return webhooksOf(configuration).flatMap(({ clientConfig }) => {
    const route = routeOf(clientConfig);
    if (route === undefined) return [];
    const { stable, canary } = route;
    // In a shadow step the canary refuses no pod.
    return [stable, ...(canary === undefined || route.shadow ? [] : [canary])].map((ref) => ref.injectorConfig);
  });
}

function revisionIn(webhook: KubernetesObject): string | undefined {
  return webhook.metadata.labels?.[labelNames.revision];
}

function ownNames(name: string): string[] {
  return [objectNames(name).webhookConfiguration, pathProbeName(name)];
}

/** Excludes the chart's empty webhook configuration, which owns the operator's webhooks. */
function isOurs(webhook: KubernetesObject, configs: readonly KubernetesObject[]): boolean {
  const { labels = {}, name = '' } = webhook.metadata;
  if (labels[labelNames.managedBy] === managedBy) return true;
  const hasName = configs.some(({ metadata }) => ownNames(metadata.name ?? '').includes(name));
  const isNamedAsTag = name.startsWith(tagWebhookConfiguration(''));
  return (hasName || isNamedAsTag) && ourWebhooksOf(webhook).length > 0;
}
