import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { objectNames, tagWebhookConfiguration } from '../api/names.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { namespaceNameLabel, systemNamespaces } from '../api/kubernetes/system-namespaces.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';

/** The short name and the selectors of one webhook. */
export interface WebhookSelectors {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** The owner of a webhook: an InjectorConfig, or a tag with its target. */
export interface WebhookOwner {
  readonly config: InjectorConfig;
  readonly tag?: RevisionTag | undefined;
}

/** Returns metadata.name of the MutatingWebhookConfiguration of an owner. */
export function webhookName({ config, tag }: WebhookOwner): string {
  return tag === undefined
    ? objectNames(config.metadata.name).webhookConfiguration
    : tagWebhookConfiguration(tag.metadata.name);
}

/** The inputs from which the selectors of a revision or a tag are generated. */
export interface SelectorTerms {
  /** The name of the revision or tag. `default` also selects pods by the injection labels. */
  readonly revision: string;
  readonly keys: WebhookKeys;
  /** Whether `default` also selects pods without labels in namespaces without labels. */
  readonly enableNamespacesByDefault: boolean;
}

/**
 * Returns the selectors of an owner's webhooks: Istio's selectors for the revision or the tag (see
 * {@link selectorsOf}) or, for `selection: Custom`, the selectors of the spec.
 * @param excluded the namespaces whose pods no webhook selects
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

/** Returns {@link webhookSelectors} that exclude system namespaces and `ownNamespace`. */
export function selectorsFor(owner: WebhookOwner, ownNamespace: string): WebhookSelectors[] {
  return webhookSelectors(owner, excludedNamespaces(owner.config, ownNamespace));
}

/**
 * Returns Istio's selectors: the injection label of a namespace overrides its revision label, which
 * overrides the revision label of the pod. So each pod is selected for at most one revision.
 * @param excluded the namespaces whose pods no webhook selects
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
 * Returns the namespaces whose pods no webhook of an InjectorConfig or of its tags selects.
 * @param ownNamespace the namespace of the operator
 */
export function excludedNamespaces({ spec }: Pick<InjectorConfig, 'spec'>, ownNamespace: string): string[] {
  return [...new Set([...systemNamespaces, ownNamespace, ...spec.webhook.excludedNamespaces])].sort();
}
