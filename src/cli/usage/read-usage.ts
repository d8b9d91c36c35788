import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName } from '../../api/names.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { loadInjector } from '../../inject/injector.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { verifiedFiles } from '../../operator/configurations/last-good.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { SelectingWebhookIndex } from '../../selection/selecting-webhook-index.ts';
import { memberOf } from '../../operator/usage/judge-pod.ts';
import { SelectingWebhookReader } from '../../selection/read-selecting-webhooks.ts';
import { ourWebhooksOf } from '../../operator/webhooks/published-webhook.ts';
import { withCluster, type ClusterOptions } from '../cluster-options.ts';
import { configOfTag, type Installation } from './installation.ts';
import { forEachPod, readInstallation } from './read-installation.ts';
import { type UsageReport, UsageTally } from './usage-report.ts';
import { configMaps } from '../../operator/cluster-view.ts';

/** Pods against what they would get now, and what could not be found out. */
export interface ReadUsage extends UsageReport {
  /** Sentences for people. */
  readonly notes: readonly string[];
}

/** Reads a cluster, and judges its pods. */
export function readClusterUsage(options: ClusterOptions): Promise<{ installation: Installation; usage: ReadUsage }> {
  return withCluster(options, async (client) => {
    const installation = await readInstallation(client);
    return { installation, usage: await readUsage(client, installation) };
  });
}

/**
 * Judges the pods of the cluster, or of one namespace, from what the API server says now: no operator has to be alive for it.
 * Without the right to read the operator's ConfigMaps nothing is called missing, and a note says so.
 */
export async function readUsage(
  client: Pick<ApiClient, 'list' | 'find'>,
  installation: Installation,
  namespace?: string,
): Promise<ReadUsage> {
  const { configs, tags, configurations, namespaces } = installation;
  const families = configs.map(({ spec }) => spec.webhook.keys);
  const members = new Map(
    configs.map((config) => [config.metadata.name, memberOf(config.spec.webhook.keys, revisionOf(config))]),
  );
  const operatorNamespaces = new Map(
    configurations.map((configuration) => [configuration.metadata.name, serviceNamespace(configuration)]),
  );
  const selectingWebhooks = new SelectingWebhookIndex();
  const rules = new Map<string, DecisionRules>();
  const notes: string[] = [];
  const targetOf = (tag: RevisionTag): InjectorConfig | undefined => configOfTag(installation, tag);
  const [ownNamespace = ''] = [...operatorNamespaces.values()].filter((each) => each !== undefined);
  const reader = new SelectingWebhookReader(ownNamespace);
  // Everybody who takes pods, or will once there is a webhook.
  for (const selectingWebhook of reader.read(configurations, { configs, tags, targetOf }).values()) {
    selectingWebhooks.set(selectingWebhook);
    if (selectingWebhook.hash === undefined || rules.has(configurationOf(selectingWebhook))) continue;
    const found = await findRules(client, selectingWebhook, operatorNamespaces.get(selectingWebhook.id));
    if (typeof found !== 'string') rules.set(configurationOf(selectingWebhook), found);
    else notes.push(`which pods of ${selectingWebhook.id} are missing is not known: ${found}`);
  }
  const tally = new UsageTally(
    {
      webhooks: selectingWebhooks,
      familyOf: (name) => members.get(name),
      rulesOf: (webhook) => rules.get(configurationOf(webhook)),
    },
    {
      annotations: new Set(families.map(({ inject }) => inject)),
      statuses: new Set(families.map(({ status }) => status)),
    },
  );
  await forEachPod(client, namespace, (pod) => {
    tally.add(pod, namespaces.get(pod.metadata.namespace ?? '') ?? {});
  });
  return { ...tally.report(), notes };
}

/** The rules of a configuration, or why they are not to be had. */
async function findRules(
  client: Pick<ApiClient, 'find'>,
  { injectorConfig, hash = '' }: SelectingWebhook,
  namespace: string | undefined,
): Promise<DecisionRules | string> {
  if (namespace === undefined) return 'it calls a url, which does not tell where its ConfigMap is';
  const name = hashedConfigMapName(injectorConfig, hash);
  try {
    const configMap = await client.find(configMaps, name, { namespace });
    const verified = configMap && verifiedFiles(configMap);
    return verified === undefined
      ? `there is no ConfigMap ${namespace}/${name} as it was published`
      : loadInjector(verified.files).rules;
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return error.message;
    throw error;
  }
}

/** Where the Service is that a configuration's webhooks call: the operator's namespace. */
function serviceNamespace(configuration: KubernetesObject): string | undefined {
  return ourWebhooksOf(configuration)[0]?.clientConfig?.service?.namespace;
}

function configurationOf({ injectorConfig, hash = '' }: SelectingWebhook): string {
  return `${injectorConfig}.${hash}`;
}
