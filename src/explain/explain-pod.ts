import { revisionOf, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import { decide, type DecisionFacts, type DecisionRules } from '../inject/decide.ts';
import type { SkipReason } from '../inject/injection-result.ts';
import type { Labels } from '../selection/label-selector.ts';
import { isInjected, type PodSelection } from '../selection/webhook-owners.ts';
import type { WebhookOwner } from '../selection/webhook-selectors.ts';

/** The reason why a pod is not injected although the pod or its namespace asks for injection. */
export interface PodExplanation {
  /** The InjectorConfig that selects the pod; undefined if none does. */
  readonly injectorConfig: string | undefined;
  /** A reason of `decide`, or `NotSelected`, `Paused`, `NotPublished`, `NotCalled`. */
  readonly reason: SkipReason | 'NotSelected' | 'Paused' | 'NotPublished' | 'NotCalled';
  readonly note: string;
  /** Whether the rules of the configuration exclude the pod; otherwise, something is wrong. */
  readonly isExpected: boolean;
}

/**
 * Explains why a selected pod is not injected. Returns undefined if the pod opted out.
 * @param rules the rules of the published configuration; undefined if no configuration is published
 */
export function explainSelected(
  pod: DecisionFacts,
  { config, tag }: WebhookOwner,
  rules: DecisionRules | undefined,
): PodExplanation | undefined {
  const injectorConfig = config.metadata.name;
  const by = tag === undefined ? '' : `, by tag ${tag.metadata.name}`;
  const named = `InjectorConfig ${injectorConfig} (revision ${revisionOf(config)}${by})`;
  const unexpected = (reason: PodExplanation['reason'], note: string): PodExplanation => {
    return { injectorConfig, reason, note, isExpected: false };
  };
  if (config.spec.paused)
    return unexpected('Paused', `not injected: ${named} is paused (spec.paused); recreate the pod after it is resumed`);
  if (rules === undefined) {
    return unexpected('NotPublished', `not injected: ${named} is not published; see its conditions`);
  }
  const decision = decide(rules, pod);
  if (!decision.inject) {
    const { reason, message } = decision;
    if (reason === 'OptedOutByLabel' || reason === 'OptedOutByAnnotation') return undefined;
    return { injectorConfig, reason, note: `not injected by ${named}: ${message}`, isExpected: true };
  }
  const { matchConditions, failurePolicy } = config.spec.webhook;
  const causes = [
    'the pod was created before the webhook existed or before its namespace got the label',
    ...(failurePolicy === 'Ignore' ? ['the webhook failed, and its failurePolicy is Ignore'] : []),
    ...(matchConditions.length > 0 ? ['one of spec.webhook.matchConditions is false for the pod'] : []),
  ];
  return unexpected(
    'NotCalled',
    `not injected: ${named} selects this pod but was not called; possible causes: ${causes.join(', or ')}`,
  );
}

/** Explains why a pod that asks for injection is not selected; undefined for any other pod. */
export function explainUnselected(
  pod: DecisionFacts,
  namespaceLabels: Labels,
  configs: readonly InjectorConfig[],
  selection: PodSelection,
): PodExplanation | undefined {
  const asked = configs.find(({ spec }) => pod.labels[spec.webhook.keys.inject] === 'true');
  // Injectors of one family share the status annotation.
  if (asked === undefined || isInjected(pod, asked)) return undefined;
  const { keys } = asked.spec.webhook;
  const labelInWords = (whose: string, key: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${whose} label ${key} is "${value}"`];
  const found = selection.excludes(asked, pod.namespace)
    ? [`namespace ${pod.namespace} is never injected`]
    : [
        ...labelInWords("the namespace's", keys.injection, namespaceLabels[keys.injection]),
        ...labelInWords("the namespace's", keys.revision, namespaceLabels[keys.revision]),
        ...labelInWords("the pod's", keys.revision, pod.labels[keys.revision]),
      ];
  const why = found.length > 0 ? found.join(' and ') : `neither the pod nor its namespace has a label ${keys.revision}`;
  const note = `not injected: the pod's label ${keys.inject} is "true", but no InjectorConfig selects it: ${why}`;
  return { injectorConfig: undefined, reason: 'NotSelected', note, isExpected: false };
}
