import { commandLine, inSequence } from '../../api/command-line.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { type Advice, adviseOn, type Change } from '../../explain/advice.ts';
import {
  type CreationFinding,
  type CreationOutcome,
  explainCreation,
  type ExplanationInputs,
  type WebhookFinding,
} from '../../explain/explain-creation.ts';
import {
  countingLabels,
  labelFamilies,
  labelMistakes,
  misplacedLabels,
  textsAt,
} from '../../explain/label-mistakes.ts';
import { compareWithOurs, otherInjectorStatus } from '../../explain/other-injector.ts';
import type { Creator, PodCreation } from '../../explain/pod-creation.ts';
import type { PodWebhook } from '../../explain/pod-webhook.ts';
import { compareStoredPod, type OtherInjectorFinding, type StoredPodFinding } from '../../explain/stored-pod.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { claimOfConfig, claimOfTag } from '../../selection/pod-claims.ts';
import { getsCanary, rankOf, workloadOfPod } from '../../routing/workload-key.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { configOfRevision, configOfTag, namedByPod } from '../usage/installation.ts';
import { lastGoodNotes } from '../usage/last-good.ts';
import { readinessOf, staleSince } from '../usage/operator-health.ts';
import { contextIn, type CreationFacts } from '../diff/compare.ts';
import type { Facts } from './facts.ts';
import { creationOf } from '../../explain/files/facts.ts';
import { replacePod } from './recreation.ts';
import { controllerOf, type Subject } from './subject.ts';

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
  /** For each called webhook of a tag in a rollout: the part that the workload is in, and why. */
  readonly rollouts: readonly { tag: string; part: 'stable' | 'canary'; message: string }[];
  /** The state of an existing pod. */
  readonly existing?: StoredPodFinding;
  /** With --dry-run: the API server's answer, and whether the explanation predicted it. */
  readonly dryRun?: DryRunAnswer & { readonly foreseen: boolean };
  readonly advice: readonly (Advice & { readonly commands: readonly string[]; readonly sentence: string })[];
  readonly notes: readonly string[];
}

/** What only some checks need. */
export interface CheckInputs {
  readonly creator?: Creator;
  readonly dryRun?: DryRunAnswer;
  /** The facts with which pods of another injector are compared; absent to skip that. */
  readonly creationFacts?: CreationFacts;
}

/**
 * Explains one subject.
 * @param surroundings `surroundingsOf(facts)`; shared, so that each configuration is loaded once
 */
export function checkSubject(
  subject: Subject,
  facts: Facts,
  surroundings: ExplanationInputs,
  { creator, dryRun, creationFacts }: CheckInputs = {},
): CheckReport {
  const { kind, namespace, name, stored } = subject;
  const creation = creationOf(subject, facts.namespaces, creator);
  const finding = explainCreation(creation, surroundings);
  const { outcome, reason, message, injectedBy, webhooks, reinvoked, doubt } = finding;
  const families = labelFamilies(facts.injectorConfigs, facts.revisionTags);
  const foreseen = dryRun?.result === outcome && [...dryRun.injectedBy].sort().join() === [...injectedBy].sort().join();
  const [cause, ...others] = causesOf(creation, finding, facts, surroundings, subject.workload);
  const answer =
    dryRun === undefined || foreseen
      ? { result: outcome, reason: cause?.reason ?? reason, message: cause?.message ?? message, injectedBy }
      : { ...dryRun, reason: 'DryRun', ...(outcome === 'Unknown' && { message }) };
  const advices = adviseOn(creation, surroundings, finding, cause?.changes);
  const advice = advices.map((each) => adviceInWords(each, subject));
  const remedy = advice.find(({ changes }) => changes === cause?.changes)?.commands;
  const command = cause?.command ?? (remedy && inSequence(remedy.map(asShell)));
  const namespaceExists = facts.namespaces.has(namespace);
  return {
    kind,
    namespace,
    name,
    ...answer,
    ...(command === undefined ? {} : { command }),
    webhooks,
    reinvoked,
    rollouts: rolloutsOf(creation, finding, facts, surroundings),
    ...(stored && {
      existing: compareStoredPod(
        stored,
        finding,
        surroundings.webhooks,
        facts.namespaces.get(namespace),
        creationFacts && compareOther(stored, finding, surroundings, creationFacts),
      ),
    }),
    ...(dryRun && { dryRun: { ...dryRun, foreseen } }),
    advice,
    notes: [
      ...others.map((other) => other.message),
      ...(outcome === 'Injected' ? misplacedLabels(creation, families, subject.workload, true) : []).map(
        (each) => each.message,
      ),
      ...countingLabels(creation, families),
      ...(doubt === undefined ? [] : [`${doubt}; another product's webhook may correct it`]),
      ...subject.notes,
      ...facts.notes,
      ...facts.injectorConfigs.filter((each) => isCalled(each, webhooks)).flatMap(lastGoodNotes),
      ...(namespaceExists ? [] : [`namespace ${namespace} was not found: it is treated as a namespace without labels`]),
      ...(outcome === 'Unknown' && dryRun === undefined ? ['use --dry-run to ask the API server'] : []),
    ],
  };
}

/** Compares a pod of another injector with a new pod of ours. */
function compareOther(
  stored: KubernetesObject,
  { webhooks }: CreationFinding,
  { injectorOf }: ExplanationInputs,
  facts: CreationFacts,
): OtherInjectorFinding | undefined {
  const status = otherInjectorStatus(stored, istioKeys.status);
  if (status === undefined) return undefined;
  const target = webhooks.find(({ reason, target }) => target !== undefined && reason !== 'NotSelected')?.target;
  const injector = target === undefined ? { unavailable: 'none of our webhooks selects the pod' } : injectorOf(target);
  const ours =
    target === undefined || 'unavailable' in injector
      ? (injector as { unavailable: string })
      : { name: target.injectorConfig, hash: target.hash, injector };
  return compareWithOurs(stored, status, ours, contextIn(stored.metadata.namespace ?? '', facts));
}

/** Reports whether a webhook with the configuration of an InjectorConfig is called. */
function isCalled({ metadata: { name } }: InjectorConfig, webhooks: readonly WebhookFinding[]): boolean {
  return webhooks.some(({ outcome, target }) => outcome !== 'NotCalled' && target?.injectorConfig === name);
}

/** Returns the part of each rollout that the workload of a pod is in. */
function rolloutsOf(
  { pod, namespace }: PodCreation,
  { webhooks }: CreationFinding,
  { revisionTags }: Facts,
  around: ExplanationInputs,
): CheckReport['rollouts'] {
  const workload = workloadOfPod(pod, namespace.name);
  return webhooks.flatMap(({ configuration, webhook, outcome, target }) => {
    const { tag } = target ?? {};
    if (outcome === 'NotCalled' || target === undefined || tag === undefined) return [];
    const isIt = (each: PodWebhook) => each.webhookConfiguration === configuration && each.webhook.name === webhook;
    const threshold = around.webhooks.find(isIt)?.canary?.threshold;
    const stated = revisionTags.find(({ metadata }) => metadata.name === tag);
    if (threshold === undefined && !(stated && rolloutUnderWay(stated)?.shadow === true)) return [];
    const rank = rankOf(tag, workload);
    const part = threshold !== undefined && getsCanary(rank, threshold) ? 'canary' : 'stable';
    const compared = `its rank, ${percent(rank)}, is ${part === 'canary' ? '' : 'not '}below the threshold`;
    const why =
      threshold === undefined ? 'no workload gets the canary in a shadow step' : `${compared}, ${percent(threshold)}`;
    const which = `${part} part of the rollout of tag ${tag} (${target.injectorConfig}.${target.hash})`;
    return [{ tag, part, message: `${workload.kind}/${workload.name} is in the ${which}: ${why}` }];
  });
}

/** Formats a rank or threshold (16 hex digits) as a share of all ranks: `12.34 %`. */
function percent(rank: string): string {
  return `${((Number.parseInt(rank, 16) / 2 ** 64) * 100).toFixed(2)} %`;
}

/** Formats advice as a sentence and commands. */
function adviceInWords(advice: Advice, subject: Subject): CheckReport['advice'][number] {
  const { outcome, injectedBy, changes } = advice;
  const then = outcome === 'Injected' ? `get it injected by ${injectedBy.join(', ')}` : 'leave it without a sidecar';
  const commands = changesInWords(changes, subject);
  const cost = costOf(changes, subject);
  return { ...advice, commands, sentence: `to ${then}${cost && ` (${cost})`}: ${commands.join(', and ')}` };
}

/** Returns what else the commands of changes do, or do not do; empty if they replace the pods. */
export function costOf(changes: readonly Change[], { template, stored, recreation }: Subject): string {
  if (stored !== undefined && changes.every((change) => change.of === 'Namespace')) return newPodsOnly;
  const isPodChanged = changes.some((change) => change.of === 'Pod') && (template ?? stored) !== undefined;
  return isPodChanged && recreation?.followsTemplate === false && recreation.afterEdit === undefined
    ? (recreation.cost ?? '')
    : '';
}

const newPodsOnly = 'this changes only new pods, so recreate it afterwards';

/** The kinds whose pod template can be edited where it is. */
const editableKinds = new Set(
  'Deployment StatefulSet DaemonSet ReplicaSet ReplicationController CronJob DeploymentConfig'.split(' '),
);

/** Returns commands that make the changes, or instructions if there are no such commands. */
export function changesInWords(changes: readonly Change[], subject: Subject): string[] {
  const { namespace } = subject;
  const ofNamespace = changes.flatMap((change) => (change.of === 'Namespace' ? [change] : []));
  const ofPod = changes.flatMap((change) => (change.of === 'Pod' ? [change] : []));
  const commands = ofNamespace.map(({ key, value }) =>
    value === null
      ? commandLine`kubectl label namespace ${namespace} ${key}-`
      : commandLine`kubectl label namespace ${namespace} ${key}=${value} --overwrite`,
  );
  // One command makes all changes of the pod, because each one may replace its pods.
  return ofPod.length === 0 ? commands : [...commands, podChangeInWords(ofPod, subject)];
}

function podChangeInWords(changes: readonly Change[], subject: Subject): string {
  const { namespace, template, stored, recreation } = subject;
  const textsOf = (wanted: string): object => {
    const entries = changes.flatMap((each) =>
      each.field !== 'hostNetwork' && each.field === wanted ? [[each.key, each.value] as const] : [],
    );
    return entries.length === 0 ? {} : { [`${wanted}s`]: Object.fromEntries(entries) };
  };
  const metadata = { ...textsOf('label'), ...textsOf('annotation') };
  const ofPod = {
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(changes.some(({ field }) => field === 'hostNetwork') && { spec: { hostNetwork: false } }),
  };
  if (stored?.metadata.name !== undefined && controllerOf(stored.metadata) === undefined)
    return replacePod(stored.metadata.name, namespace, JSON.stringify(ofPod));
  if (template !== undefined && editableKinds.has(template.kind)) {
    const spec = template.kind === 'CronJob' ? { jobTemplate: { spec: { template: ofPod } } } : { template: ofPod };
    const edit = commandLine`kubectl patch ${template.kind.toLowerCase()} ${template.name} -n ${namespace} --type merge -p ${JSON.stringify({ spec })}`;
    if (recreation?.followsTemplate !== false) return edit;
    return inSequence([edit, recreation.afterEdit ?? recreation.command]);
  }
  const words = changes.map((change) => {
    if (change.field === 'hostNetwork') return 'without spec.hostNetwork';
    return change.value === null
      ? commandLine`without the ${change.field} ${change.key}`
      : commandLine`with the ${change.field} ${change.key}=${change.value}`;
  });
  if (template === undefined) return `recreate the pod ${words.join(' and ')} (changing an existing pod has no effect)`;
  return `${commandLine`recreate the ${template.kind} ${template.name}`} ${words.join(' and ')} in its pod template`;
}

/** Marks an instruction, so that a shell does not run it. */
export function asShell(text: string): string {
  return /^(?:kubectl|#) /.test(text) ? text : `# ${text}`;
}

/** The cause of an unwanted result, and its remedy: changes of labels, or a command. */
export interface Cause {
  /** An identifier such as `NotPublished`. */
  readonly reason: string;
  readonly message: string;
  readonly changes?: Change[];
  readonly command?: string;
}

/** Returns the causes of a missing or a double injection, the most certain cause first. */
export function causesOf(
  creation: PodCreation,
  finding: CreationFinding,
  facts: Facts,
  around: ExplanationInputs,
  workload?: KubernetesObject,
): Cause[] {
  if (finding.outcome === 'Injected') return injectedTwice(finding, facts);
  if (finding.reason !== 'NotSelected' && finding.reason !== 'NoWebhook') return [];
  const namespace = creation.namespace.labels;
  const pod = textsAt(creation.pod, 'labels');
  const families = labelFamilies(facts.injectorConfigs, facts.revisionTags);
  // The labels of a namespace override the labels of its pods.
  const unlabeled = families.filter(({ keys }) => [keys.injection, keys.revision].every((key) => !(key in namespace)));
  const unpublished = families.flatMap(({ keys }) => {
    const name = namedByPod(keys, namespace, pod) ?? '';
    const tag = facts.revisionTags.find(({ metadata }) => metadata.name === name);
    const named = tag ?? configOfRevision({ configs: facts.injectorConfigs }, name);
    return whyWithoutWebhook(named, facts, around) ?? [];
  });
  return [
    ...misplacedLabels(creation, families, workload),
    ...unpublished,
    ...labelMistakes(namespace, families),
    ...labelMistakes(pod, unlabeled, 'Pod'),
  ];
}

/** Finds another product's webhook that is called for this pod because of the same labels. */
function injectedTwice({ webhooks }: CreationFinding, { injectorConfigs, configurations }: Facts): Cause[] {
  const ours = webhooks.find(({ outcome }) => outcome === 'Injected')?.target?.injectorConfig;
  const called = webhooks.filter(({ outcome }) => outcome === 'Called').map(({ configuration }) => configuration);
  const others = configurations.filter(({ metadata: { name = '' } }) => called.includes(name));
  const selectors = [{ name: '', namespaceSelector: {}, objectSelector: {} }];
  const config = injectorConfigs.find(({ metadata }) => metadata.name === ours);
  const other = config && foreignOverlap({ ...claimOfConfig(config), selectors }, others);
  if (config === undefined || other === undefined) return [];
  const message = `injected twice: webhook configuration ${other.configuration} of another injector selects the pod by the same labels; remove that webhook configuration, or disable this InjectorConfig in all namespaces, which \`injector enable\` undoes`;
  return [{ reason: 'ForeignWebhook', message, command: commandLine`injector disable ${revisionOf(config)}` }];
}

/** Reports whether the InjectorConfig is paused, and another product injects its pods instead. */
export function isReplacedByOther(
  owner: InjectorConfig | RevisionTag | undefined,
  { injectorConfigs: configs, configurations }: Facts,
): boolean {
  const isTag = owner?.kind === 'RevisionTag';
  const config = isTag ? configOfTag({ configs }, owner) : owner;
  if (config?.spec.paused !== true) return false;
  return foreignOverlap(isTag ? claimOfTag(owner, config) : claimOfConfig(config), configurations) !== undefined;
}

/** Returns why `owner` has no webhook; undefined if a webhook exists or the status is unknown. */
export function whyWithoutWebhook(
  owner: InjectorConfig | RevisionTag | undefined,
  facts: Facts,
  { webhooks }: ExplanationInputs,
): Required<Omit<Cause, 'changes'>> | undefined {
  if (owner === undefined) return undefined;
  if (isReplacedByOther(owner, facts)) return undefined;
  const { health, injectorConfigs: configs } = facts;
  const { kind, metadata, spec } = owner;
  const isTag = owner.kind === 'RevisionTag';
  if (webhooks.some(({ target }) => (isTag ? target?.tag : target?.injectorConfig) === metadata.name)) return undefined;
  const none = `${kind} ${metadata.name} has no webhook`;
  const config = isTag ? configOfTag({ configs }, owner) : owner;
  if (config?.spec.paused === true) {
    const message = `${none}: InjectorConfig ${config.metadata.name} is paused (spec.paused)`;
    return { reason: 'Paused', message, command: commandLine`injector enable ${revisionOf(config)}` };
  }
  if (health === undefined && owner.status === undefined) return undefined;
  const { ready, reason, message } = readinessOf(owner, health && staleSince(health, spec.operatorClass));
  const gone = 'the webhook was deleted; if the operator does not create it again soon, read the log of the operator';
  const command = commandLine`kubectl describe ${kind.toLowerCase()} ${metadata.name}`;
  return { reason: 'NotPublished', message: `${none}: ${ready ? gone : `${reason}: ${message}`}`, command };
}
