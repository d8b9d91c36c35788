import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { evaluateCondition, type ConditionResult } from './cel-condition.ts';
import { conditionRequest, type PodCreation } from './pod-creation.ts';
import type { MutatingWebhook } from './pod-webhook.ts';
import { unmetRequirements, type Labels } from '../selection/label-selector.ts';

/** One step of an explanation. */
export interface Step {
  readonly step: 'NamespaceSelector' | 'ObjectSelector' | 'MatchCondition' | 'Configuration' | 'Decision' | 'Injection';
  /** `Error`: the step refuses the pod, or skips the webhook under failurePolicy Ignore. */
  readonly result: 'Yes' | 'No' | 'Error' | 'Unknown';
  /** The name of the matchCondition, or the reason for the decision or the refusal. */
  readonly name?: string;
  readonly message: string;
}

/** The decision whether the API server calls a webhook. */
export interface WebhookChoice {
  readonly called: 'Yes' | 'No' | 'Refused' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly steps: readonly Step[];
  /** The unmet requirements; empty when both selectors match. */
  readonly unmet: {
    readonly namespace: readonly LabelSelectorRequirement[];
    readonly pod: readonly LabelSelectorRequirement[];
  };
}

/**
 * Decides whether the API server calls a webhook
 * (k8s.io/apiserver/pkg/admission/plugin/webhook/generic): selectors, then matchConditions. A false
 * condition prevents the call; otherwise a failing condition refuses the pod under failurePolicy
 * Fail and skips the webhook under Ignore.
 * @param pod the pod that the previous webhooks returned
 */
export function chooseWebhook(webhook: MutatingWebhook, creation: PodCreation, pod: JsonObject): WebhookChoice {
  const podLabels = ((pod.metadata as JsonObject).labels ?? {}) as Labels;
  const unmet = {
    namespace: unmetRequirements(webhook.namespaceSelector, creation.namespace.labels),
    pod: unmetRequirements(webhook.objectSelector, podLabels),
  };
  const selected = (step: Step['step'], whose: string, needs: LabelSelectorRequirement[], labels: Labels): Step => {
    if (needs.length === 0) return { step, result: 'Yes', message: `${whose} labels match` };
    return { step, result: 'No', message: `${whose} ${needs.map((each) => unmetInWords(each, labels)).join('; ')}` };
  };
  const steps: Step[] = [
    selected('NamespaceSelector', "the namespace's", unmet.namespace, creation.namespace.labels),
    selected('ObjectSelector', "the pod's", unmet.pod, podLabels),
  ];
  const refusals = steps.filter(({ result }) => result === 'No').map(({ message }) => message);
  if (refusals.length > 0) return { called: 'No', reason: 'NotSelected', message: refusals.join('; '), steps, unmet };
  const conditions = conditionSteps(webhook, creation, pod);
  return { ...verdictOf(conditions, webhook.failurePolicy ?? 'Fail'), steps: [...steps, ...conditions], unmet };
}

function conditionSteps({ matchConditions = [] }: MutatingWebhook, creation: PodCreation, pod: JsonObject): Step[] {
  const input = { object: pod, request: conditionRequest(creation, pod) };
  return matchConditions.map(({ name, expression }): Step => {
    const found = evaluateCondition(expression, input);
    return { step: 'MatchCondition', name, result: resultWords[found.result], message: conditionMessage(name, found) };
  });
}

const resultWords = { true: 'Yes', false: 'No', error: 'Error', unknown: 'Unknown' } as const;

function conditionMessage(name: string, found: ConditionResult): string {
  switch (found.result) {
    case 'true':
      return `matchCondition ${name} is true`;
    case 'false':
      return generated[name]?.message ?? `matchCondition ${name} is false for the pod`;
    case 'error':
      return `matchCondition ${name} fails: ${found.message}`;
    case 'unknown':
      return `matchCondition ${name} is unknown: ${found.message}`;
  }
}

/** The reason and message if a condition that the operator generated is false. */
const generated: Readonly<Record<string, { readonly reason: string; readonly message: string } | undefined>> = {
  [matchConditionNames.hostNetwork]: {
    reason: 'HostNetwork',
    message: "the pod uses the host network: redirecting its traffic would redirect the node's traffic too",
  },
  [matchConditionNames.optedOut]: {
    reason: 'OptedOutByAnnotation',
    message: 'the pod opts out by annotation, and no label overrides the annotation',
  },
  [matchConditionNames.mirrorPod]: { reason: 'MirrorPod', message: 'the pod is the mirror of a static pod' },
  [matchConditionNames.replaceable]: {
    reason: 'Irreplaceable',
    message: 'the pod cannot be held (failurePolicy Hold), so the other webhook of this pair receives it',
  },
  [matchConditionNames.irreplaceable]: {
    reason: 'Replaceable',
    message: 'the pod can be held (failurePolicy Hold), so the other webhook of this pair receives it',
  },
};

function verdictOf(
  conditions: readonly Step[],
  failurePolicy: 'Fail' | 'Ignore',
): Pick<WebhookChoice, 'called' | 'reason' | 'message'> {
  const stepOf = (expected: Step['result']): Step | undefined => conditions.find(({ result }) => result === expected);
  const no = stepOf('No');
  if (no !== undefined)
    return { called: 'No', reason: generated[no.name ?? '']?.reason ?? 'MatchCondition', message: no.message };
  const unknown = stepOf('Unknown');
  if (unknown !== undefined) return { called: 'Unknown', reason: 'MatchCondition', message: unknown.message };
  const error = stepOf('Error');
  if (error === undefined)
    return { called: 'Yes', reason: 'Selected', message: 'the selectors and matchConditions match' };
  const isFatal = failurePolicy === 'Fail';
  const then = isFatal ? 'the pod is refused' : 'the webhook is skipped';
  const message = `${error.message}; under failurePolicy ${failurePolicy} ${then}`;
  return { called: isFatal ? 'Refused' : 'No', reason: 'MatchConditionFailed', message };
}

/** Formats an unmet requirement: `label istio-injection is absent, needs "enabled"`. */
function unmetInWords({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): string {
  const found = Object.hasOwn(labels, key) ? `is ${JSON.stringify(labels[key])}` : 'is absent';
  const listed = values.map((value) => JSON.stringify(value)).join(' or ');
  switch (operator) {
    case 'In':
      return `label ${key} ${found}, needs ${listed}`;
    case 'NotIn':
      return `label ${key} ${found}, which is excluded`;
    case 'Exists':
      return `label ${key} ${found}, needs any value`;
    case 'DoesNotExist':
      return `label ${key} ${found}, must be absent`;
  }
}
