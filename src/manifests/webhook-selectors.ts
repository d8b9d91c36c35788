import { revisionOf, type InjectorConfig } from '../api/injector-config.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes.ts';
import { namespaceNameLabel } from '../api/system-namespaces.ts';

/** One webhook of a configuration: its short name and which pods it takes. */
export interface WebhookSelectors {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** The revision that also answers to the plain injection label. */
const defaultRevision = 'default';

/**
 * The selectors of an InjectorConfig. For `selection: Revision` they are Istio's: a namespace's injection label beats its revision label, which
 * beats the pod's; the webhooks of one family never take the same pod twice. For `selection: Custom` the ones given, as they are.
 * @param excluded namespaces whose pods are taken by none of them
 */
export function webhookSelectors(config: InjectorConfig, excluded: readonly string[]): WebhookSelectors[] {
  const { injection, webhook } = config.spec;
  const notExcluded: LabelSelectorRequirement = { key: namespaceNameLabel, operator: 'NotIn', values: [...excluded] };
  const select = (name: string, namespace: LabelSelector, object: LabelSelector): WebhookSelectors => ({
    name,
    namespaceSelector: { ...namespace, matchExpressions: [...(namespace.matchExpressions ?? []), notExcluded] },
    objectSelector: object,
  });
  if (webhook.selection === 'Custom') {
    return [select('custom', webhook.namespaceSelector ?? {}, webhook.objectSelector ?? {})];
  }

  const { keys } = webhook;
  const revision = revisionOf(config);
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
  if (injection.enableNamespacesByDefault) {
    webhooks.push(select('auto', unlabelled, all(absent(keys.inject), absent(keys.revision))));
  }
  return webhooks;
}
