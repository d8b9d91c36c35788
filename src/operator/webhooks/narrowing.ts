import type { KubernetesObject, LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes/kubernetes.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { type Webhook, webhooksOf } from './published-webhook.ts';

type NarrowedWebhook = Webhook & { readonly namespaceSelector?: LabelSelector };

/** A webhook configuration that keeps tolerated expressions, and the condition `Narrowed`. */
export interface Narrowing<T extends KubernetesObject = KubernetesObject> {
  readonly object: T;
  readonly finding: Finding;
}

/**
 * Keeps the live namespaceSelector if a tolerated field manager has only added expressions to it.
 * Some cloud providers' controllers add expressions to every webhook configuration, and would
 * conflict with the operator forever. The operator undoes every other change.
 */
export function leaveNarrowed<T extends KubernetesObject>(
  desired: T,
  live: KubernetesObject | undefined,
  toleratedManagers: readonly string[],
): Narrowing<T> {
  const found: NarrowedWebhook[] = webhooksOf(live);
  const narrowed: string[] = [];
  const webhooks = webhooksOf(desired).map((webhook: NarrowedWebhook) => {
    const selector = found.find(({ name }) => name === webhook.name)?.namespaceSelector;
    const added = selector && addedTo(webhook.namespaceSelector ?? {}, selector);
    if (selector === undefined || added === undefined || added.length === 0) return webhook;
    const { name = '' } = webhook;
    const manager = toleratedManagers.find((each) => managesSelector(live, name, each));
    if (manager === undefined) return webhook;
    narrowed.push(`${manager} adds ${added.map(formatRequirement).join(', ')} to the namespaceSelector of ${name}`);
    return { ...webhook, namespaceSelector: selector };
  });
  if (narrowed.length === 0)
    return { object: desired, finding: no('NotNarrowed', 'the webhook has the selectors of the spec') };
  const message = `${narrowed.join('; ')}, so pods of the excluded namespaces get no sidecar; spec.webhook.toleratedManagers permits this`;
  return { object: { ...desired, webhooks }, finding: yes('ToleratedManager', message) };
}

/** Returns the added expressions; undefined if matchLabels differ or one of ours is missing. */
function addedTo(ours: LabelSelector, live: LabelSelector): LabelSelectorRequirement[] | undefined {
  if (JSON.stringify(ours.matchLabels ?? {}) !== JSON.stringify(live.matchLabels ?? {})) return undefined;
  const desired = new Set((ours.matchExpressions ?? []).map(canonical));
  const found = live.matchExpressions ?? [];
  const known = new Set(found.map(canonical));
  if (![...desired].every((each) => known.has(each))) return undefined;
  return found.filter((each) => !desired.has(canonical(each)));
}

function canonical({ key, operator, values = [] }: LabelSelectorRequirement): string {
  return JSON.stringify([key, operator, [...values].sort()]);
}

function formatRequirement({ key, operator, values = [] }: LabelSelectorRequirement): string {
  return values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${values.join(', ')}]`;
}

/** Reports whether a field manager owns a webhook's namespaceSelector (managedFields, FieldsV1). */
function managesSelector(live: KubernetesObject | undefined, webhook: string, manager: string): boolean {
  const entries = (live?.metadata.managedFields ?? []) as {
    manager?: string;
    fieldsV1?: { 'f:webhooks'?: Record<string, Record<string, unknown> | undefined> };
  }[];
  const key = `k:${JSON.stringify({ name: webhook })}`;
  return entries.some((entry) => {
    return entry.manager === manager && entry.fieldsV1?.['f:webhooks']?.[key]?.['f:namespaceSelector'] !== undefined;
  });
}
