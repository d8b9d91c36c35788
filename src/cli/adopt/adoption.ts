import { isDeepStrictEqual } from 'node:util';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject, LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes/kubernetes.ts';
import { namespaceNameLabel } from '../../api/kubernetes/system-namespaces.ts';
import { adoptionAnnotation } from '../../api/names.ts';
import type { MutatingWebhook } from '../../explain/pod-webhook.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { without } from '../../inject/pod/without.ts';

/** What `injector adopt` has taken from a webhook configuration of Istio's injector. */
export interface Adoption {
  /** The namespaces that the webhooks leave to our injector. */
  readonly namespaces: readonly string[];
  /** Whether the webhooks select no pod, as `istioctl tag set default` makes them. */
  readonly isDeactivated: boolean;
}

type Selectors = Readonly<Record<'namespaceSelector' | 'objectSelector', LabelSelector>>;

/** The annotation: an adoption, and the selectors that the webhooks had before, by their names. */
interface AdoptionRecord extends Adoption {
  readonly selectors: Readonly<Record<string, Selectors>>;
}

const none: AdoptionRecord = { namespaces: [], isDeactivated: false, selectors: {} };

/** Returns what was taken from a webhook configuration; nothing if its chart was applied again. */
export function adoptionOf(configuration: KubernetesObject): Adoption {
  const { selectors, ...adoption } = recordOf(configuration);
  const isLost = webhooksIn(configuration).some((webhook) => {
    const before = selectors[webhook.name];
    return before === undefined || !isDeepStrictEqual(selectorsOf(webhook), taken(before, adoption));
  });
  return isLost ? { namespaces: [], isDeactivated: false } : adoption;
}

/**
 * Returns a webhook configuration of Istio's injector with another adoption. Writes the record and
 * the selectors in one object, so that one write changes both, or neither.
 */
export function withAdoption(configuration: KubernetesObject, next: Adoption): KubernetesObject {
  const record = recordOf(configuration);
  const isNothing = next.namespaces.length === 0 && !next.isDeactivated;
  const selectors: Record<string, Selectors> = {};
  const webhooks = webhooksIn(configuration).map((webhook) => {
    const now = selectorsOf(webhook);
    const recorded = record.selectors[webhook.name];
    // If another client has changed the selectors since, these are the ones to restore.
    const isOurs = recorded !== undefined && isDeepStrictEqual(now, taken(recorded, record));
    const before = isOurs ? recorded : now;
    selectors[webhook.name] = before;
    return { ...webhook, ...taken(before, next) };
  });
  const annotations = without({ ...configuration.metadata.annotations }, adoptionAnnotation);
  const { namespaces, isDeactivated } = next;
  if (!isNothing) annotations[adoptionAnnotation] = JSON.stringify({ namespaces, isDeactivated, selectors });
  return { ...configuration, metadata: { ...configuration.metadata, annotations }, webhooks };
}

function webhooksIn({ webhooks }: KubernetesObject): MutatingWebhook[] {
  return Array.isArray(webhooks) ? (webhooks as MutatingWebhook[]) : [];
}

function selectorsOf({ namespaceSelector = {}, objectSelector = {} }: MutatingWebhook): Selectors {
  return { namespaceSelector, objectSelector };
}

/** Returns the selectors that leave pods to our injector. */
function taken({ namespaceSelector, objectSelector }: Selectors, { namespaces, isDeactivated }: Adoption): Selectors {
  const never: LabelSelector = { matchLabels: { 'istio.io/deactivated': 'never-match' } };
  if (isDeactivated) return { namespaceSelector: never, objectSelector: never };
  if (namespaces.length === 0) return { namespaceSelector, objectSelector };
  const others: LabelSelectorRequirement = { key: namespaceNameLabel, operator: 'NotIn', values: [...namespaces] };
  const matchExpressions = [...(namespaceSelector.matchExpressions ?? []), others];
  return { namespaceSelector: { ...namespaceSelector, matchExpressions }, objectSelector };
}

/** Reads the annotation; anybody who may write the object can forge it. */
function recordOf({ metadata }: KubernetesObject): AdoptionRecord {
  const found = annotationOf(metadata.annotations?.[adoptionAnnotation]);
  const { namespaces, isDeactivated, selectors } = found;
  if (!Array.isArray(namespaces) || !isJsonObject(selectors)) return none;
  return {
    namespaces: namespaces.filter((each) => typeof each === 'string'),
    isDeactivated: isDeactivated === true,
    selectors: selectors as AdoptionRecord['selectors'],
  };
}

function annotationOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The labels of a namespace that select an injector. */
const injectionLabels = [istioKeys.injection, istioKeys.revision];

/** Returns the merge patch of metadata that lets a namespace follow a revision or tag of ours. */
export function relabeling({ metadata }: KubernetesObject, revision: string): object {
  const { labels = {}, annotations = {} } = metadata;
  const before = Object.fromEntries(injectionLabels.map((key) => [key, labels[key] ?? null]));
  // A namespace that has moved before keeps the record of its first labels.
  const record = annotations[adoptionAnnotation] ?? JSON.stringify(before);
  return {
    labels: { [istioKeys.injection]: null, [istioKeys.revision]: revision },
    annotations: { [adoptionAnnotation]: record },
  };
}

/** Returns the merge patch that undoes {@link relabeling}; undefined if nothing is recorded. */
export function labelsBefore({ metadata }: KubernetesObject): object | undefined {
  const text = metadata.annotations?.[adoptionAnnotation];
  if (text === undefined) return undefined;
  const record = annotationOf(text);
  const labels = Object.fromEntries(
    injectionLabels.map((key) => [key, typeof record[key] === 'string' ? record[key] : null]),
  );
  return { labels, annotations: { [adoptionAnnotation]: null } };
}

/** Names what would revert a change of some fields of an object, in words; undefined if nothing. */
export function reverterOf({ metadata }: KubernetesObject, fields: readonly string[]): string | undefined {
  const { annotations = {}, labels = {}, ownerReferences = [], managedFields = [] } = metadata;
  const [owner] = ownerReferences;
  if (owner !== undefined) return `${owner.kind} ${owner.name}, which owns it`;
  const managers = managedFields as readonly {
    readonly manager?: string;
    readonly operation?: string;
    readonly fieldsV1?: unknown;
  }[];
  const keys = [...Object.keys(annotations), ...Object.keys(labels)];
  if (keys.some((key) => key.startsWith('argocd.argoproj.io/'))) return 'Argo CD';
  if (managers.some(({ manager = '' }) => manager.startsWith('argocd'))) return 'Argo CD';
  if (keys.some((key) => key.includes('.toolkit.fluxcd.io/'))) return 'Flux';
  const applied = managers.find(({ operation, fieldsV1 }) => {
    const text = JSON.stringify(fieldsV1 ?? {});
    return operation === 'Apply' && fields.some((field) => text.includes(`"f:${field}"`));
  });
  return applied && `${applied.manager ?? 'a client'}, which applies it (server-side apply)`;
}
