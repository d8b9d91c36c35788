import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject, LabelSelector } from '../api/kubernetes.ts';
import { labelNames, managedBy } from '../api/labels.ts';
import { meet, type Claimant } from '../manifests/claims.ts';
import type { Finding } from './revision-status.ts';

/** One webhook (admissionregistration.k8s.io/v1), as far as it matters here. */
interface Webhook {
  readonly name?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly {
    readonly operations?: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
  }[];
}

interface PodWebhook {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly keys: ReadonlySet<string>;
}

/** Objects of the view never change, so each is read once. */
const podWebhooks = new WeakMap<KubernetesObject, readonly PodWebhook[]>();

/** The webhook configuration of somebody else that takes the same pods, and its webhook. */
export interface ForeignClaim {
  readonly configuration: string;
  readonly webhook: string;
}

/**
 * The first webhook of somebody else that would take pods which a claimant wants, chosen by the same labels: another injector of the family, such as
 * Istio's own. Webhooks that look at none of the family's labels are no injectors of it, and may see every pod.
 */
export function foreignOverlap(
  claimant: Claimant,
  configurations: readonly KubernetesObject[],
): ForeignClaim | undefined {
  const { injection, revision, inject } = claimant.keys;
  for (const configuration of configurations) {
    if (configuration.metadata.deletionTimestamp !== undefined) continue;
    const found = podWebhooksOf(configuration).find(
      (webhook) =>
        [injection, revision, inject].some((key) => webhook.keys.has(key)) && meet(claimant.selectors, [webhook]),
    );
    if (found !== undefined) {
      return { configuration: configuration.metadata.name ?? '', webhook: found.name };
    }
  }
  return undefined;
}

/** What of a webhook configuration of somebody else decides whether it overlaps; empty for our own. */
export function foreignSelectors(configuration: KubernetesObject | undefined): string {
  if (configuration === undefined || configuration.metadata.deletionTimestamp !== undefined) return '';
  const webhooks = podWebhooksOf(configuration);
  return webhooks.length === 0 ? '' : JSON.stringify(webhooks.map(({ keys, ...selectors }) => [selectors, [...keys]]));
}

/**
 * What it comes to for an InjectorConfig: a sentence where nothing may be installed because of it, and the condition. What is in force already is not
 * withdrawn when somebody else appears later: whoever came second has to go.
 */
export function foreignFinding(
  claim: ForeignClaim | undefined,
  { spec }: Pick<InjectorConfig, 'spec'>,
): { foreign?: string; finding: Finding } {
  if (claim === undefined) {
    const message = 'no injector of somebody else takes the same pods by the same labels';
    return { finding: { status: 'False', reason: 'NoForeignOverlap', message } };
  }
  const message = `MutatingWebhookConfiguration ${claim.configuration} (webhook ${claim.webhook}) of another injector takes the same pods by the same labels`;
  if (spec.webhook.takeover) {
    const takenOver = `${message}; spec.webhook.takeover is set`;
    return { finding: { status: 'False', reason: 'Takeover', message: takenOver } };
  }
  return { foreign: message, finding: { status: 'True', reason: 'ForeignWebhook', message } };
}

function podWebhooksOf(configuration: KubernetesObject): readonly PodWebhook[] {
  const known = podWebhooks.get(configuration);
  if (known !== undefined) return known;
  const isOurs = configuration.metadata.labels?.[labelNames.managedBy] === managedBy;
  const webhooks = isOurs ? [] : ((configuration.webhooks ?? []) as Webhook[]);
  const read = webhooks.filter(takesNewPods).map(({ name = '', namespaceSelector = {}, objectSelector = {} }) => ({
    name,
    namespaceSelector,
    objectSelector,
    keys: new Set([...keysOf(namespaceSelector), ...keysOf(objectSelector)]),
  }));
  podWebhooks.set(configuration, read);
  return read;
}

function takesNewPods({ rules = [] }: Webhook): boolean {
  const has = (list: readonly string[] | undefined, ...wanted: string[]): boolean =>
    list?.some((each) => wanted.includes(each)) === true;
  return rules.some(
    ({ operations, apiGroups, resources }) =>
      has(operations, 'CREATE', '*') && has(apiGroups, '', '*') && has(resources, 'pods', '*', '*/*'),
  );
}

function keysOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}
