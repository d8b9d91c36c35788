import type { KubernetesObject, LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes/kubernetes.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { type Webhook, webhooksOf } from './published-webhook.ts';

type NarrowedWebhook = Webhook & { readonly namespaceSelector?: LabelSelector };

/** A webhook configuration with what is left to others in it, and what that comes to. */
export interface Narrowing<T extends KubernetesObject = KubernetesObject> {
  readonly object: T;
  readonly finding: Finding;
}

/**
 * Leaves a list of namespaceSelector expressions to a manager that is tolerated, for as long as it only narrows: all of ours are in it, and more.
 * A cloud's own controller puts such lists into every webhook configuration of a cluster, again and again, and whoever takes them out fights with
 * it for ever. Whatever else differs is not touched here, so it is taken back.
 */
export function leaveNarrowed<T extends KubernetesObject>(
  desired: T,
  live: KubernetesObject | undefined,
  toleratedManagers: readonly string[],
): Narrowing<T> {
  const found: NarrowedWebhook[] = webhooksOf(live);
  const left: string[] = [];
  const webhooks = webhooksOf(desired).map((webhook: NarrowedWebhook) => {
    const there = found.find(({ name }) => name === webhook.name)?.namespaceSelector;
    const added = there && addedTo(webhook.namespaceSelector ?? {}, there);
    if (there === undefined || added === undefined || added.length === 0) return webhook;
    const { name = '' } = webhook;
    const manager = toleratedManagers.find((each) => managesSelector(live, name, each));
    if (manager === undefined) return webhook;
    left.push(`${manager} adds ${added.map(words).join(', ')} to the namespaceSelector of ${name}`);
    return { ...webhook, namespaceSelector: there };
  });
  if (left.length === 0)
    return { object: desired, finding: no('NotNarrowed', 'the webhook selects what the spec says') };
  const message = `${left.join('; ')}: pods of other namespaces are not injected (spec.webhook.toleratedManagers)`;
  return { object: { ...desired, webhooks }, finding: yes('ToleratedManager', message) };
}

/** The expressions that are more than ours; undefined when not all of ours are there, or labels differ. */
function addedTo(ours: LabelSelector, there: LabelSelector): LabelSelectorRequirement[] | undefined {
  if (JSON.stringify(ours.matchLabels ?? {}) !== JSON.stringify(there.matchLabels ?? {})) return undefined;
  const wanted = new Set((ours.matchExpressions ?? []).map(canonical));
  const found = there.matchExpressions ?? [];
  const known = new Set(found.map(canonical));
  if (![...wanted].every((each) => known.has(each))) return undefined;
  return found.filter((each) => !wanted.has(canonical(each)));
}

function canonical({ key, operator, values = [] }: LabelSelectorRequirement): string {
  return JSON.stringify([key, operator, [...values].sort()]);
}

function words({ key, operator, values = [] }: LabelSelectorRequirement): string {
  return values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${values.join(', ')}]`;
}

/** Whether metadata.managedFields says that a manager holds the namespaceSelector of a webhook (fieldsV1 of server-side apply; lists by their key). */
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
