import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { evaluateCondition, type ConditionResult } from './cel-condition.ts';
import { conditionRequest, type PodCreation } from './pod-creation.ts';
import type { MutatingWebhook } from './pod-webhook.ts';
import { unmetRequirements, type Labels } from '../selection/label-selector.ts';

/** One thing that was looked at on the way to an answer. */
export interface Step {
  readonly step: 'NamespaceSelector' | 'ObjectSelector' | 'MatchCondition' | 'Configuration' | 'Decision' | 'Injection';
  /** `Error`: it fails, which refuses the pod or, under failurePolicy Ignore, passes the webhook over. */
  readonly result: 'Yes' | 'No' | 'Error' | 'Unknown';
  /** Of a matchCondition its name. */
  readonly name?: string;
  readonly message: string;
}

/** Whether the API server asks a webhook about a creation. */
export interface WebhookChoice {
  readonly called: 'Yes' | 'No' | 'Refused' | 'Unknown';
  /** An identifier, and the sentence that goes with it. */
  readonly reason: string;
  readonly message: string;
  readonly steps: readonly Step[];
  /** What the labels lack; empty when both selectors take the pod. */
  readonly unmet: {
    readonly namespace: readonly LabelSelectorRequirement[];
    readonly pod: readonly LabelSelectorRequirement[];
  };
}

/**
 * Whether the API server asks a webhook about a pod, by its own rules (k8s.io/apiserver/pkg/admission/plugin/webhook/generic): both selectors, then the
 * matchConditions. Of these one that is false decides, whatever the others are; otherwise one that fails refuses the pod under failurePolicy Fail
 * and passes the webhook over under Ignore.
 * @param pod as the webhooks before this one have left it
 */
export function chooseWebhook(webhook: MutatingWebhook, creation: PodCreation, pod: JsonObject): WebhookChoice {
  const podLabels = ((pod.metadata as JsonObject).labels ?? {}) as Labels;
  const unmet = {
    namespace: unmetRequirements(webhook.namespaceSelector, creation.namespace.labels),
    pod: unmetRequirements(webhook.objectSelector, podLabels),
  };
  const selected = (step: Step['step'], whose: string, lacks: LabelSelectorRequirement[], labels: Labels): Step => {
    if (lacks.length === 0) return { step, result: 'Yes', message: `${whose} labels are selected` };
    return { step, result: 'No', message: `${whose} ${lacks.map((each) => unmetInWords(each, labels)).join('; ')}` };
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
      return `matchCondition ${name} holds`;
    case 'false':
      return generated[name]?.message ?? `matchCondition ${name} is false for it`;
    case 'error':
      return `matchCondition ${name} fails: ${found.message}`;
    case 'unknown':
      return `matchCondition ${name} cannot be told: ${found.message}`;
  }
}

/** What it means when one of the generated conditions is false. */
const generated: Readonly<Record<string, { readonly reason: string; readonly message: string } | undefined>> = {
  [matchConditionNames.hostNetwork]: {
    reason: 'HostNetwork',
    message: "the pod uses the host network: redirecting its traffic would redirect the node's traffic too",
  },
  [matchConditionNames.optedOut]: {
    reason: 'OptedOutByAnnotation',
    message: 'the pod opts out by annotation, and has no label that says otherwise',
  },
  [matchConditionNames.mirrorPod]: { reason: 'MirrorPod', message: 'the pod is the mirror of a static pod' },
};

function verdictOf(
  conditions: readonly Step[],
  failurePolicy: 'Fail' | 'Ignore',
): Pick<WebhookChoice, 'called' | 'reason' | 'message'> {
  const of = (wanted: Step['result']): Step | undefined => conditions.find(({ result }) => result === wanted);
  const no = of('No');
  if (no !== undefined)
    return { called: 'No', reason: generated[no.name ?? '']?.reason ?? 'MatchCondition', message: no.message };
  const unknown = of('Unknown');
  if (unknown !== undefined) return { called: 'Unknown', reason: 'MatchCondition', message: unknown.message };
  const error = of('Error');
  if (error === undefined) return { called: 'Yes', reason: 'Selected', message: 'selectors and matchConditions hold' };
  const isFatal = failurePolicy === 'Fail';
  const then = isFatal ? 'that refuses the pod' : 'the webhook is passed over';
  const message = `${error.message}; under failurePolicy ${failurePolicy} ${then}`;
  return { called: isFatal ? 'Refused' : 'No', reason: 'MatchConditionFailed', message };
}

/** `label istio-injection is absent, needs "enabled"`: an unmet requirement in words. */
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
