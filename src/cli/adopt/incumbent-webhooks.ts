import { isDeepStrictEqual } from 'node:util';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject, LabelSelector } from '../../api/kubernetes/kubernetes.ts';
import { namespaceNameLabel, systemNamespaces } from '../../api/kubernetes/system-namespaces.ts';
import { type MutatingWebhook, podWebhooks, type PodWebhook } from '../../explain/pod-webhook.ts';
import { isIstioInjector } from '../../selection/foreign-overlap.ts';
import { withAdoption } from './adoption.ts';
import { selectorsOf } from '../../selection/webhook-selectors.ts';

/** The end of the names of the webhooks in Istio's chart. */
const suffix = '.sidecar-injector.istio.io';

/** Returns the webhooks of Istio's injector, wherever istiod runs, in their order of calls. */
export function istioWebhooks(configurations: readonly KubernetesObject[]): PodWebhook[] {
  return podWebhooks(configurations).filter(({ webhook }) => isIstioInjector(webhook.name));
}

/** A webhook of Istio's injector, with the fields that an InjectorConfig also has. */
export interface IncumbentWebhook extends MutatingWebhook {
  readonly timeoutSeconds?: number;
  readonly matchPolicy?: string;
  readonly clientConfig?: MutatingWebhook['clientConfig'] & { readonly caBundle?: string };
}

/** A MutatingWebhookConfiguration of Istio's injector. */
export interface Incumbent {
  readonly name: string;
  readonly revision: string;
  /** The tag, if it belongs to one. */
  readonly tag?: string;
  readonly webhooks: readonly IncumbentWebhook[];
}

/**
 * Returns the configurations that call a Service in the namespace, or a URL, by their names. Their
 * selectors are those from before `injector adopt move`.
 */
export function incumbentsIn(configurations: readonly KubernetesObject[], namespace: string): Incumbent[] {
  return configurations
    .map((each) => withAdoption(each, { namespaces: [], isDeactivated: false }))
    .flatMap(({ metadata: { name = '', labels = {} }, webhooks }) => {
      const own = (Array.isArray(webhooks) ? (webhooks as IncumbentWebhook[]) : []).filter((each) =>
        isIstioInjector(each.name),
      );
      const isElsewhere = own.every(({ clientConfig: { service } = {} }) => {
        return service !== undefined && service.namespace !== namespace;
      });
      if (isElsewhere) return [];
      const tag = labels['istio.io/tag'];
      return [{ name, revision: labels[istioKeys.revision] ?? 'default', ...(tag && { tag }), webhooks: own }];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Reports whether no webhook selects a pod, as after `istioctl tag set default`. */
export function isDeactivated({ webhooks }: Incumbent): boolean {
  return webhooks.every(({ namespaceSelector }) => 'istio.io/deactivated' in (namespaceSelector?.matchLabels ?? {}));
}

/** What the selectors of an incumbent mean for an InjectorConfig or a RevisionTag. */
export interface IncumbentSelection {
  readonly excludedNamespaces: readonly string[];
  readonly enableNamespacesByDefault: boolean;
  /** Keys of expressions that AKS adds to all webhooks, also to ours. */
  readonly addedByAks: readonly string[];
}

const aksKeys = ['control-plane', 'kubernetes.azure.com/managedby'];

/** Compares the selectors with those of Istio's chart. Returns a sentence if they differ. */
export function selectionOf({ name, revision, tag, webhooks }: Incumbent): IncumbentSelection | string {
  const enableNamespacesByDefault = webhooks.some((webhook) => webhook.name === `auto${suffix}`);
  const wanted = selectorsOf({ revision: tag ?? revision, keys: istioKeys, enableNamespacesByDefault }, []);
  const found = { excludedNamespaces: new Set<string>(), addedByAks: new Set<string>() };
  for (const { name: short, namespaceSelector, objectSelector } of wanted) {
    const webhook = webhooks.find((each) => each.name === `${short}${suffix}`);
    if (webhook === undefined) return `${name} has no webhook ${short}${suffix}`;
    const more = additional(webhook.namespaceSelector ?? {}, withoutNames(namespaceSelector));
    if (more === undefined || !isDeepStrictEqual(webhook.objectSelector ?? {}, objectSelector))
      return `the selectors of webhook ${webhook.name} in ${name} are not those of Istio's chart`;
    for (const { key, operator, values = [] } of more) {
      if (aksKeys.includes(key)) found.addedByAks.add(key);
      else if (key !== namespaceNameLabel || operator !== 'NotIn')
        return `the namespaceSelector of webhook ${webhook.name} in ${name} also has ${key} ${operator}`;
      else for (const each of values) found.excludedNamespaces.add(each);
    }
  }
  const [unknown] = webhooks.filter((each) => !wanted.some(({ name: short }) => each.name === `${short}${suffix}`));
  if (unknown !== undefined) return `${name} also has webhook ${unknown.name}`;
  // Our webhooks always exclude the system namespaces.
  const excludedNamespaces = [...found.excludedNamespaces].filter((each) => !systemNamespaces.includes(each)).sort();
  return { excludedNamespaces, enableNamespacesByDefault, addedByAks: [...found.addedByAks].sort() };
}

/** Returns the expressions that only `live` has; undefined if it lacks others. */
function additional({ matchLabels = {}, matchExpressions = [] }: LabelSelector, wanted: LabelSelector) {
  const expected = wanted.matchExpressions ?? [];
  const has = (list: typeof matchExpressions, one: unknown) => list.some((each) => isDeepStrictEqual(each, one));
  if (Object.keys(matchLabels).length > 0 || !expected.every((each) => has(matchExpressions, each))) return undefined;
  return matchExpressions.filter((each) => !has([...expected], each));
}

function withoutNames({ matchExpressions = [] }: LabelSelector): LabelSelector {
  return { matchExpressions: matchExpressions.filter(({ key }) => key !== namespaceNameLabel) };
}

/** The fields that all webhooks of an incumbent have in common. */
export type IncumbentCall = Pick<
  IncumbentWebhook,
  'clientConfig' | 'failurePolicy' | 'timeoutSeconds' | 'reinvocationPolicy' | 'matchPolicy' | 'matchConditions'
>;

/** Returns what all webhooks have in common, or a sentence if they differ. */
export function callOf({ name, webhooks }: Incumbent): IncumbentCall | string {
  const [first = {}, ...others] = webhooks.map((webhook): IncumbentCall => {
    const { clientConfig, failurePolicy, timeoutSeconds, reinvocationPolicy, matchPolicy, matchConditions } = webhook;
    return {
      ...(clientConfig && { clientConfig }),
      failurePolicy: failurePolicy ?? 'Fail',
      timeoutSeconds: timeoutSeconds ?? 10,
      reinvocationPolicy: reinvocationPolicy ?? 'Never',
      matchPolicy: matchPolicy ?? 'Equivalent',
      matchConditions: matchConditions ?? [],
    };
  });
  const keys = Object.keys(first) as (keyof IncumbentCall)[];
  const differing = keys.find((key) => others.some((other) => !isDeepStrictEqual(other[key], first[key])));
  return differing === undefined ? first : `the webhooks of ${name} have different values of ${differing}`;
}
