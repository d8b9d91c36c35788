import { commandLine, inSequence } from '../../api/command-line.ts';
import { type Advice, adviseOn } from '../../explain/advice.ts';
import {
  type CreationOutcome,
  explainCreation,
  type ExplanationInputs,
  type WebhookFinding,
} from '../../explain/explain-creation.ts';
import type { Creator } from '../../explain/pod-creation.ts';
import { compareStoredPod, type StoredPodFinding } from '../../explain/stored-pod.ts';
import { creationOf, type Facts } from './facts.ts';
import type { Subject } from './subject.ts';
import { causesOf } from './causes.ts';
import type { Change } from '../../explain/changes.ts';

/** The API server's answer to a dry run of the creation. */
export interface DryRunAnswer {
  readonly result: Exclude<CreationOutcome, 'Unknown'>;
  readonly injectedBy: readonly string[];
  /** The result as a sentence; the API server's message if the pod was refused. */
  readonly message: string;
}

/** The result of `injector check` for one object, as printed by `-o json`. */
export interface CheckReport {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly result: CreationOutcome;
  /** An identifier, as in metrics and Events. */
  readonly reason: string;
  readonly message: string;
  /** A command that solves the problem. */
  readonly command?: string;
  /** The configurations that inject the pod, each as `NAME.HASH8`. */
  readonly injectedBy: readonly string[];
  readonly webhooks: readonly WebhookFinding[];
  /** The webhooks that the API server calls a second time. */
  readonly reinvoked: readonly string[];
  /** The state of an existing pod. */
  readonly existing?: StoredPodFinding;
  /** With --dry-run: the API server's answer, and whether the explanation predicted it. */
  readonly dryRun?: DryRunAnswer & { readonly foreseen: boolean };
  readonly advice: readonly (Advice & { readonly commands: readonly string[]; readonly sentence: string })[];
  readonly notes: readonly string[];
}

/**
 * Explains one subject.
 * @param surroundings `surroundingsOf(facts)`; shared, so that each configuration is loaded once
 */
export function checkSubject(
  subject: Subject,
  facts: Facts,
  surroundings: ExplanationInputs,
  { creator, dryRun }: { readonly creator?: Creator; readonly dryRun?: DryRunAnswer } = {},
): CheckReport {
  const { kind, namespace, name, stored } = subject;
  const creation = creationOf(subject, facts.namespaces, creator);
  const finding = explainCreation(creation, surroundings);
  const { outcome, reason, message, injectedBy, webhooks, reinvoked } = finding;
  const foreseen = dryRun?.result === outcome && [...dryRun.injectedBy].sort().join() === [...injectedBy].sort().join();
  const [cause, ...others] = causesOf(creation, finding, facts, surroundings);
  const answer =
    dryRun === undefined || foreseen
      ? { result: outcome, reason: cause?.reason ?? reason, message: cause?.message ?? message, injectedBy }
      : { ...dryRun, reason: 'DryRun' };
  const advices = adviseOn(creation, surroundings, finding, cause?.changes);
  const advice = advices.map((each) => adviceInWords(each, subject));
  const remedy = advice.find(({ changes }) => changes === cause?.changes)?.commands;
  const command = cause?.command ?? (remedy && inSequence(remedy));
  const namespaceExists = facts.namespaces.has(namespace);
  return {
    kind,
    namespace,
    name,
    ...answer,
    ...(command === undefined ? {} : { command }),
    webhooks,
    reinvoked,
    ...(stored && {
      existing: compareStoredPod(stored, finding, surroundings.webhooks, facts.namespaces.get(namespace)),
    }),
    ...(dryRun && { dryRun: { ...dryRun, foreseen } }),
    advice,
    notes: [
      ...others.map((other) => other.message),
      ...subject.notes,
      ...facts.notes,
      ...(namespaceExists ? [] : [`namespace ${namespace} was not found: it is treated as a namespace without labels`]),
      ...(outcome === 'Unknown' && dryRun === undefined ? ['use --dry-run to ask the API server'] : []),
    ],
  };
}

/** Formats advice as a sentence and commands. */
function adviceInWords(advice: Advice, subject: Subject): CheckReport['advice'][number] {
  const { outcome, injectedBy, changes } = advice;
  const then = outcome === 'Injected' ? `get it injected by ${injectedBy.join(', ')}` : 'leave it without a sidecar';
  const commands = changes.map((change) => changeInWords(change, subject));
  return { ...advice, commands, sentence: `to ${then}: ${commands.join(', and ')}` };
}

/** Returns a command that makes the change, or an instruction if there is no such command. */
export function changeInWords(change: Change, subject: Subject): string {
  if (change.field === 'hostNetwork') return `remove spec.hostNetwork from the pod`;
  const { key, value } = change;
  if (change.of === 'Namespace' && value === null)
    return commandLine`kubectl label namespace ${subject.namespace} ${key}-`;
  if (change.of === 'Namespace')
    return commandLine`kubectl label namespace ${subject.namespace} ${key}=${value ?? ''} --overwrite`;
  const { template } = subject;
  // The pod template of a Job is immutable.
  if (template !== undefined && template.kind !== 'Job') {
    const ofPods = { template: { metadata: { [`${change.field}s`]: { [key]: value } } } };
    const patch = JSON.stringify({ spec: template.kind === 'CronJob' ? { jobTemplate: { spec: ofPods } } : ofPods });
    return commandLine`kubectl patch ${template.kind.toLowerCase()} ${template.name} -n ${subject.namespace} --type merge -p ${patch}`;
  }
  const words =
    value === null
      ? commandLine`without the ${change.field} ${key}`
      : commandLine`with the ${change.field} ${key}=${value}`;
  if (template === undefined) return `recreate the pod ${words} (changing an existing pod has no effect)`;
  return `${commandLine`recreate the ${template.kind} ${template.name}`} ${words} in its pod template`;
}
