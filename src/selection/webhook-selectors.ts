import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { namespaceNameLabel, systemNamespaces } from '../api/kubernetes/system-namespaces.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';

/** One webhook of a configuration: its short name and which pods it takes. */
export interface WebhookSelectors {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** Whose webhook it is: an InjectorConfig's own, or that of a tag which leads to it. */
export interface WebhookOwner {
  readonly config: InjectorConfig;
  readonly tag?: RevisionTag | undefined;
}

/** What the labels of a family are compared with: the selectors of a revision or a tag follow from it. */
export interface SelectorTerms {
  /** The revision, or the tag: the value of the revision label. `default` also answers to the injection label, and to pods that opt in without naming one. */
  readonly revision: string;
  readonly keys: WebhookKeys;
  /** Whether it also takes pods without any label, in namespaces without any; of the default only. */
  readonly enableNamespacesByDefault: boolean;
}

/**
 * The selectors of an owner's webhooks: Istio's, see {@link selectorsOf}, for the revision or, of a tag, for a revision of its name in the family of the
 * InjectorConfig; for `selection: Custom` the ones given, as they are.
 * @param excluded namespaces whose pods are taken by none of them
 */
export function webhookSelectors({ config, tag }: WebhookOwner, excluded: readonly string[]): WebhookSelectors[] {
  const { injection, webhook } = config.spec;
  if (tag === undefined && webhook.selection === 'Custom') {
    const { namespaceSelector = {}, objectSelector = {} } = webhook;
    return [{ name: 'custom', namespaceSelector: without(namespaceSelector, excluded), objectSelector }];
  }
  const revision = tag?.metadata.name ?? revisionOf(config);
  const enableNamespacesByDefault = injection.enableNamespacesByDefault || tag?.spec.enableNamespacesByDefault === true;
  return selectorsOf({ revision, keys: webhook.keys, enableNamespacesByDefault }, excluded);
}

/** {@link webhookSelectors} as they are written. @param ownNamespace the operator's, whose pods no webhook takes */
export function selectorsFor(owner: WebhookOwner, ownNamespace: string): WebhookSelectors[] {
  return webhookSelectors(owner, excludedNamespaces(owner.config, ownNamespace));
}

/**
 * Istio's selectors: a namespace's injection label beats its revision label, which beats the pod's; the webhooks of one family never take the same
 * pod twice, for as long as each revision and tag has one of them.
 * @param excluded namespaces whose pods are taken by none of them
 */
export function selectorsOf(terms: SelectorTerms, excluded: readonly string[]): WebhookSelectors[] {
  const { revision, keys } = terms;
  const select = (name: string, namespace: LabelSelector, objectSelector: LabelSelector): WebhookSelectors => ({
    name,
    namespaceSelector: without(namespace, excluded),
    objectSelector,
  });
  const absent = (key: string): LabelSelectorRequirement => ({ key, operator: 'DoesNotExist' });
  const oneOf = (key: string, value: string): LabelSelectorRequirement => ({ key, operator: 'In', values: [value] });
  const notOptedOut: LabelSelectorRequirement = { key: keys.inject, operator: 'NotIn', values: ['false'] };
  const all = (...matchExpressions: LabelSelectorRequirement[]): LabelSelector => ({ matchExpressions });

  const webhooks = [
    select('rev.namespace', all(oneOf(keys.revision, revision), absent(keys.injection)), all(notOptedOut)),
    select(
      'rev.object',
      all(absent(keys.revision), absent(keys.injection)),
      all(notOptedOut, oneOf(keys.revision, revision)),
    ),
  ];
  if (revision !== defaultRevision) return webhooks;

  const unlabelled = all(absent(keys.injection), absent(keys.revision));
  webhooks.push(
    select('namespace', all(oneOf(keys.injection, 'enabled')), all(notOptedOut)),
    select('object', unlabelled, all(oneOf(keys.inject, 'true'), absent(keys.revision))),
  );
  if (terms.enableNamespacesByDefault) {
    webhooks.push(select('auto', unlabelled, all(absent(keys.inject), absent(keys.revision))));
  }
  return webhooks;
}

function without(selector: LabelSelector, excluded: readonly string[]): LabelSelector {
  const notExcluded: LabelSelectorRequirement = { key: namespaceNameLabel, operator: 'NotIn', values: [...excluded] };
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), notExcluded] };
}

/**
 * The namespaces whose pods no webhook of an InjectorConfig takes, and no tag that leads to it.
 * @param ownNamespace the operator's
 */
export function excludedNamespaces({ spec }: Pick<InjectorConfig, 'spec'>, ownNamespace: string): string[] {
  return [...new Set([...systemNamespaces, ownNamespace, ...spec.webhook.excludedNamespaces])].sort();
}
