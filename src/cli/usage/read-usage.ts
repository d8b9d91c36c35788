import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { gateIn } from '../../explain/stored-pod.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { SelectingWebhookIndex } from '../../selection/selecting-webhook-index.ts';
import { familyMember, type PodJudgement } from '../../operator/usage/judge-pod.ts';
import { SelectingWebhookReader } from '../../selection/read-selecting-webhooks.ts';
import { surroundingsOf } from '../check/facts.ts';
import { readConfigurations } from '../check/read-cluster-facts.ts';
import { withCluster, type ClusterOptions } from '../cluster-options.ts';
import { plural } from '../report/write-report.ts';
import { configOfTag, type Installation, forEachPod, readInstallation } from './installation.ts';
import { type UsageReport, UsageTally } from './usage-report.ts';

/** The counted pods of a cluster, with remarks about data that could not be read. */
export interface ReadUsage extends UsageReport {
  /** Remarks for users. */
  readonly notes: readonly string[];
}

/** Reads the installation of a cluster and counts its current, stale and missing pods. */
export function readClusterUsage(options: ClusterOptions): Promise<{ installation: Installation; usage: ReadUsage }> {
  return withCluster(options, async (client) => {
    const installation = await readInstallation(client);
    return { installation, usage: await readUsage(client, installation) };
  });
}

/**
 * Counts the current, stale and missing pods of the cluster or of one namespace. Needs no running
 * operator. If a ConfigMap cannot be read, a note says that its missing pods are not counted.
 * @param visit receives each pod that has not ended
 */
export async function readUsage(
  client: Pick<ApiClient, 'list' | 'listAll' | 'find'>,
  installation: Installation,
  namespace?: string,
  visit?: (pod: KubernetesObject, judgements: readonly PodJudgement[]) => void,
): Promise<ReadUsage> {
  const { configs, tags, configurations, namespaces } = installation;
  const families = configs.map(({ spec }) => spec.webhook.keys);
  const members = new Map(
    configs.map((config) => [config.metadata.name, familyMember(config.spec.webhook.keys, revisionOf(config))]),
  );
  const filesOf = await readConfigurations(client, configurations);
  const { webhooks, injectorOf } = surroundingsOf({ configurations, filesOf });
  const [ownNamespace = ''] = webhooks.flatMap(({ target }) => target?.namespace ?? []);
  const injectorAt = ({ injectorConfig, hash = '' }: SelectingWebhook) =>
    injectorOf({ injectorConfig, hash, namespace: undefined });
  const selectingWebhooks = new SelectingWebhookIndex();
  const notes: string[] = [];
  const targetOf = (tag: RevisionTag): InjectorConfig | undefined => configOfTag(installation, tag);
  const reader = new SelectingWebhookReader(ownNamespace);
  // The reader adds the desired webhook of each owner that has no live webhook.
  for (const webhook of reader.read(configurations, { configs, tags, targetOf }).values()) {
    selectingWebhooks.set(webhook);
    const injector = webhook.hash === undefined ? undefined : injectorAt(webhook);
    if (injector !== undefined && 'unavailable' in injector)
      notes.push(`cannot determine which pods lack the sidecar of ${webhook.id}: ${injector.unavailable}`);
  }
  const rulesOf = (webhook: SelectingWebhook): DecisionRules | undefined => {
    const injector = injectorAt(webhook);
    return 'rules' in injector ? injector.rules : undefined;
  };
  const tally = new UsageTally(
    { webhooks: selectingWebhooks, familyOf: (name) => members.get(name), rulesOf },
    {
      annotations: new Set(families.map(({ inject }) => inject)),
      statuses: new Set(families.map(({ status }) => status)),
    },
  );
  const held = new Map<string, { pods: number; since: string }>();
  await forEachPod(client, namespace, (pod) => {
    countHeld(held, pod);
    const judgements = tally.add(pod, namespaces.get(pod.metadata.namespace ?? '') ?? {});
    if (judgements !== undefined) visit?.(pod, judgements);
  });
  for (const [gate, { pods, since }] of held) {
    const wait = `${plural(pods, 'pod')} with scheduling gate ${gate}, the first since ${since}`;
    notes.push(`${wait}: held until the webhook works (failurePolicy Hold); \`injector release\` lets them start`);
  }
  return { ...tally.report(), notes };
}

/** Counts a pod that failurePolicy Hold holds. */
function countHeld(held: Map<string, { pods: number; since: string }>, pod: KubernetesObject): void {
  const gate = gateIn(pod);
  if (gate === undefined) return;
  const { creationTimestamp = '' } = pod.metadata;
  const { pods, since } = held.get(gate) ?? { pods: 0, since: creationTimestamp };
  held.set(gate, { pods: pods + 1, since: creationTimestamp < since ? creationTimestamp : since });
}
