import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import { injectedByAnnotation } from '../api/names.ts';
import { decide } from '../inject/decide.ts';
import { inject } from '../inject/inject.ts';
import type { Injector } from '../inject/injector.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { readPodFacts } from '../inject/pod/pod-facts.ts';
import { refusalOf } from '../inject/validity/find-invalid-fields.ts';
import { isIstioInjector } from '../selection/foreign-overlap.ts';
import type { PodCreation } from './pod-creation.ts';
import type { PodWebhook, RolloutCanary, WebhookTarget } from './pod-webhook.ts';
import { chooseWebhook, type Step, type WebhookChoice } from './webhook-choice.ts';

/** The outcome for a pod. `Refused`: the API server does not create the pod. */
export type CreationOutcome = 'Injected' | 'NotInjected' | 'Refused' | 'Unknown';

/** The result for one webhook. */
export interface WebhookFinding {
  readonly configuration: string;
  readonly webhook: string;
  /** The target of our webhook; undefined for another product's webhook. */
  readonly target: WebhookTarget | undefined;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly reinvocationPolicy: 'Never' | 'IfNeeded';
  /** `Called`: the API server calls another product's webhook, whose response is unknown. */
  readonly outcome: 'NotCalled' | 'Called' | 'Injected' | 'Skipped' | 'Refused' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly steps: readonly Step[];
  readonly unmet: WebhookChoice['unmet'];
}

export interface CreationFinding {
  readonly outcome: CreationOutcome;
  readonly reason: string;
  readonly message: string;
  /** `N.<hash8>` of each configuration that injects the pod, in order. */
  readonly injectedBy: readonly string[];
  /** The webhooks in the API server's call order, up to the first refusal. */
  readonly webhooks: readonly WebhookFinding[];
  /** Webhooks that are called again after a later webhook changed the pod (reinvocationPolicy). */
  readonly reinvoked: readonly string[];
  /** Why the API server refuses the injected pod, unless another product's webhook corrects it. */
  readonly doubt?: string;
  /** The pod that the API server stores, as far as known; after a refusal, the original pod. */
  readonly pod: JsonObject;
}

/** The inputs, apart from the pod, that an explanation needs. */
export interface ExplanationInputs {
  /** The webhooks in the API server's call order (`podWebhooks`). */
  readonly webhooks: readonly PodWebhook[];
  /** Returns the loaded configuration of a webhook, or the reason why it is unavailable. */
  readonly injectorOf: (target: WebhookTarget) => Injector | { readonly unavailable: string };
  /** Reports whether a rollout gives the canary to the pod's workload. */
  readonly getsCanary: (canary: RolloutCanary, pod: JsonObject, namespace: string) => boolean;
}

/**
 * Explains the creation of a pod step by step. Chooses webhooks as the API server does, and applies
 * each to the result of the previous webhook. For our webhooks, calls `decide` and `inject`.
 */
export function explainCreation(creation: PodCreation, surroundings: ExplanationInputs): CreationFinding {
  let pod = creation.pod;
  const findings: WebhookFinding[] = [];
  const injectedBy: string[] = [];
  const toReinvoke = new Set<PodWebhook>();
  const reinvocable: PodWebhook[] = [];
  for (const each of surroundings.webhooks) {
    const answer = ask(each, creation, pod, surroundings, calledInjector(findings));
    findings.push(answer.finding);
    if (answer.finding.outcome === 'Refused') return refused(answer.finding, findings, creation.pod);
    // Includes this webhook, because built-in plugins of the API server change its additions.
    if (answer.isCalled && each.webhook.reinvocationPolicy === 'IfNeeded') reinvocable.push(each);
    if (answer.pod !== undefined) {
      pod = answer.pod;
      if (answer.finding.target !== undefined) injectedBy.push(entryOf(answer.finding.target));
      for (const earlier of reinvocable) toReinvoke.add(earlier);
    }
  }
  // The second round calls only webhooks that the first round called.
  const reinvoked: string[] = [];
  for (const each of surroundings.webhooks.filter((webhook) => toReinvoke.has(webhook))) {
    const answer = ask(each, creation, pod, surroundings);
    if (!answer.isCalled && answer.finding.outcome !== 'Refused') continue;
    reinvoked.push(`${each.webhookConfiguration}/${each.webhook.name}`);
    if (answer.finding.outcome === 'Refused')
      return refused(answer.finding, [...findings, answer.finding], creation.pod);
    if (answer.pod !== undefined) pod = answer.pod;
  }
  const found = { injectedBy: [...new Set(injectedBy)], webhooks: findings, reinvoked, pod };
  const refusal = injectedBy.length === 0 ? undefined : refusalOf(creation.pod, pod);
  if (refusal === undefined) return { ...summary(findings, creation), ...found };
  const isCertain = findings.every(({ outcome }) => outcome !== 'Called' && outcome !== 'Unknown');
  if (!isCertain) return { ...summary(findings, creation), ...found, doubt: refusal };
  const invalid = { outcome: 'Refused', reason: 'InvalidPod', message: refusal } as const;
  return { ...found, ...invalid, injectedBy: [], pod: creation.pod };
}

function refused(finding: WebhookFinding, webhooks: readonly WebhookFinding[], pod: JsonObject): CreationFinding {
  const { reason, message } = finding;
  return { outcome: 'Refused', reason, message, injectedBy: [], webhooks, reinvoked: [], pod };
}

interface Answer {
  readonly finding: WebhookFinding;
  readonly isCalled: boolean;
  /** The changed pod; absent if the webhook does not change the pod. */
  readonly pod?: JsonObject;
}

/** @param other the webhook of another injector that was called before */
function ask(
  each: PodWebhook,
  creation: PodCreation,
  pod: JsonObject,
  surroundings: ExplanationInputs,
  other?: WebhookFinding,
): Answer {
  const { webhookConfiguration, webhook, canary } = each;
  const isCanary = canary !== undefined && surroundings.getsCanary(canary, creation.pod, creation.namespace.name);
  const target = isCanary ? canary.target : each.target;
  const { failurePolicy = 'Fail', reinvocationPolicy = 'Never' } = webhook;
  const { called, steps, ...choice } = chooseAfter(other, webhook, creation, pod);
  const policies = { failurePolicy, reinvocationPolicy };
  const found = { configuration: webhookConfiguration, webhook: webhook.name, target, ...policies, ...choice };
  if (called !== 'Yes')
    return { finding: { ...found, outcome: called === 'No' ? 'NotCalled' : called, steps }, isCalled: false };
  if (target === undefined) {
    const message = "called; the response of another product's webhook is not known here";
    return { finding: { ...found, outcome: 'Called', reason: 'Foreign', message, steps }, isCalled: true };
  }
  const answer = askOurs(target, creation, pod, surroundings);
  const finding = { ...found, ...answer.finding, steps: [...steps, ...answer.finding.steps] };
  return { ...answer, finding, isCalled: true };
}

/** Chooses a webhook; another injector's webhook that was called has set its status annotation. */
function chooseAfter(
  other: WebhookFinding | undefined,
  webhook: PodWebhook['webhook'],
  creation: PodCreation,
  pod: JsonObject,
): WebhookChoice {
  const found = chooseWebhook(webhook, creation, pod);
  if (other === undefined || found.called !== 'Yes') return found;
  const annotations = { [istioKeys.status]: '{}', ...objectAt(pod, ['metadata', 'annotations']) };
  const injected = { ...pod, metadata: { ...objectAt(pod, ['metadata']), annotations } };
  const choice = chooseWebhook(webhook, creation, injected);
  if (choice.called !== 'No') return choice;
  return { ...choice, reason: otherInjector, message: `${calledFor(other)} first: ${choice.message}` };
}

/** The reason if none of our webhooks is called, because another injector's webhook is. */
export const otherInjector = 'OtherInjector';

/** Returns the first webhook of another injector that is called. */
export function calledInjector(findings: readonly WebhookFinding[]): WebhookFinding | undefined {
  return findings.find(({ outcome, webhook }) => outcome === 'Called' && isIstioInjector(webhook));
}

function calledFor({ configuration, webhook }: WebhookFinding): string {
  return `webhook configuration ${configuration} (webhook ${webhook}) of another injector is called for the pod`;
}

interface OurAnswer {
  readonly finding: Pick<WebhookFinding, 'outcome' | 'reason' | 'message' | 'steps'>;
  readonly pod?: JsonObject;
}

function askOurs(
  target: WebhookTarget,
  { namespace }: PodCreation,
  pod: JsonObject,
  { injectorOf }: ExplanationInputs,
): OurAnswer {
  const named = `InjectorConfig ${target.injectorConfig} (configuration ${target.hash})`;
  const injector = injectorOf(target);
  if ('unavailable' in injector) {
    const message = `${named} is not available: ${injector.unavailable}`;
    const step: Step = { step: 'Configuration', result: 'Unknown', message };
    return { finding: { outcome: 'Unknown', reason: 'ConfigurationUnknown', message, steps: [step] } };
  }
  const steps: Step[] = [{ step: 'Configuration', result: 'Yes', message: `the webhook uses ${named}` }];
  const result = inject(injector, { pod, namespace: namespace.name, namespaceMetadata: namespace });
  if (result.outcome !== 'failed') {
    const { inject: isInjected, reason, message } = decide(injector.rules, readPodFacts(pod, namespace.name));
    steps.push({ step: 'Decision', result: isInjected ? 'Yes' : 'No', name: reason, message });
  }
  switch (result.outcome) {
    case 'skipped':
      return { finding: { outcome: 'Skipped', reason: result.reason, message: result.message, steps } };
    case 'failed': {
      const { reason, message } = result;
      const step: Step = { step: 'Injection', result: 'Error', name: reason, message: `refused: ${message}` };
      return { finding: { outcome: 'Refused', reason, message, steps: [...steps, step] } };
    }
    case 'injected': {
      const words = `injected by ${named}`;
      const step: Step = { step: 'Injection', result: 'Yes', message: words };
      const finding = { outcome: 'Injected', reason: 'Injected', message: words, steps: [...steps, step] } as const;
      // One entry suffices: no code here reads the list.
      return { finding, pod: withEntries(result.pod, [entryOf(target)]) };
    }
  }
}

function entryOf({ injectorConfig, hash }: WebhookTarget): string {
  return `${injectorConfig}.${hash}`;
}

/** Sets the annotation in which the admission handler records configurations. */
export function withEntries(pod: JsonObject, entries: readonly string[]): JsonObject {
  const annotations = { ...objectAt(pod, ['metadata', 'annotations']), [injectedByAnnotation]: entries.join(',') };
  return { ...pod, metadata: { ...objectAt(pod, ['metadata']), annotations } };
}

/** Summarizes findings: an unknown result, an injection, or the step closest to an injection. */
function summary(
  findings: readonly WebhookFinding[],
  creation: PodCreation,
): Pick<CreationFinding, 'outcome' | 'reason' | 'message'> {
  const ours = findings.filter(({ target }) => target !== undefined);
  const injected = ours.filter(({ outcome }) => outcome === 'Injected');
  const unknown = findings.find(({ outcome, target, failurePolicy }) => {
    // A foreign webhook matters only if it can refuse the pod.
    return outcome === 'Unknown' && (target !== undefined || failurePolicy === 'Fail');
  });
  if (unknown !== undefined && (injected.length === 0 || unknown.target !== undefined))
    return { outcome: 'Unknown', reason: unknown.reason, message: unknown.message };
  if (injected.length > 0) {
    return { outcome: 'Injected', reason: 'Injected', message: injected.map(({ message }) => message).join('; ') };
  }
  const skipped = ours.find(({ outcome }) => outcome === 'Skipped');
  const conditional = ours.find(({ outcome, reason }) => outcome === 'NotCalled' && reason !== 'NotSelected');
  const found = skipped ?? conditional;
  if (found !== undefined) return { outcome: 'NotInjected', reason: found.reason, message: found.message };
  const other = calledInjector(findings);
  if (other !== undefined)
    return { outcome: 'NotInjected', reason: otherInjector, message: `${calledFor(other)}, and none of ours` };
  return { outcome: 'NotInjected', ...notSelected(ours, creation) };
}

function notSelected(ours: readonly WebhookFinding[], { pod, namespace }: PodCreation) {
  const byDistance = [...ours].sort((one, other) => distance(one) - distance(other));
  const [nearest] = byDistance;
  if (nearest === undefined) return { reason: 'NoWebhook', message: 'no InjectorConfig has a published webhook' };
  const { unmet } = nearest;
  if (unmet.namespace.some(({ key }) => key === namespaceNameLabel))
    return { reason: 'ExcludedNamespace', message: 'pods of this namespace are never injected' };
  const [need] = unmet.pod;
  if (unmet.namespace.length === 0 && unmet.pod.length === 1 && need?.operator === 'NotIn') {
    const label = nearest.message.replace(/^the pod's /, '');
    return { reason: 'OptedOutByLabel', message: `the pod opts out: its ${label}` };
  }
  // A label with another value names the family that the author means.
  const labels = { ...objectAt(pod, ['metadata', 'labels']), ...namespace.labels };
  const isMeant = (each: WebhookFinding): boolean =>
    [...each.unmet.namespace, ...each.unmet.pod].some(({ key, operator }) => operator === 'In' && key in labels);
  const { configuration, webhook, message } = byDistance.find(isMeant) ?? nearest;
  const where = `${configuration}/${webhook}`;
  return { reason: 'NotSelected', message: `no webhook selects the pod; the closest is ${where}: ${message}` };
}

/** Counts unmet requirements. Requirements on the namespace count twice. */
function distance({ unmet }: WebhookFinding): number {
  return unmet.namespace.length * 2 + unmet.pod.length;
}
