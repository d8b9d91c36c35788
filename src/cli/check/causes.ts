import { commandLine } from '../../api/command-line.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { Change } from '../../explain/changes.ts';
import type { CreationFinding, ExplanationInputs } from '../../explain/explain-creation.ts';
import { labelFamilies, labelMistakes } from '../../explain/label-mistakes.ts';
import type { PodCreation } from '../../explain/pod-creation.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { claimOfConfig } from '../../selection/pod-claims.ts';
import { configOfRevision, configOfTag, namedByPod } from '../usage/installation.ts';
import { staleSince } from '../usage/operator-health.ts';
import { readinessOf } from '../usage/readiness.ts';
import type { Facts } from './facts.ts';

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
): Cause[] {
  if (finding.outcome === 'Injected') return injectedTwice(finding, facts);
  if (finding.reason !== 'NotSelected' && finding.reason !== 'NoWebhook') return [];
  const namespace = creation.namespace.labels;
  const labels = Object.entries(objectAt(creation.pod, ['metadata', 'labels']));
  const pod = Object.fromEntries(labels.filter((each): each is [string, string] => typeof each[1] === 'string'));
  const families = labelFamilies(facts.injectorConfigs, facts.revisionTags);
  // The labels of a namespace override the labels of its pods.
  const unlabeled = families.filter(({ keys }) => [keys.injection, keys.revision].every((key) => !(key in namespace)));
  const unpublished = families.flatMap(({ keys }) => {
    const name = namedByPod(keys, namespace, pod) ?? '';
    const tag = facts.revisionTags.find(({ metadata }) => metadata.name === name);
    const named = tag ?? configOfRevision({ configs: facts.injectorConfigs }, name);
    return whyWithoutWebhook(named, facts, around) ?? [];
  });
  return [...unpublished, ...labelMistakes(namespace, families), ...labelMistakes(pod, unlabeled, 'Pod')];
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
  const message = `injected twice: webhook configuration ${other.configuration} of another injector selects the pod by the same labels; remove that webhook configuration, or disable this InjectorConfig`;
  return [
    { reason: 'ForeignWebhook', message, command: commandLine`injector disable --revision ${revisionOf(config)}` },
  ];
}

/** Returns why `owner` has no webhook; undefined if a webhook exists or the status is unknown. */
export function whyWithoutWebhook(
  owner: InjectorConfig | RevisionTag | undefined,
  { health, injectorConfigs: configs }: Facts,
  { webhooks }: ExplanationInputs,
): Required<Omit<Cause, 'changes'>> | undefined {
  if (owner === undefined) return undefined;
  const { kind, metadata, spec } = owner;
  const isTag = owner.kind === 'RevisionTag';
  if (webhooks.some(({ target }) => (isTag ? target?.tag : target?.injectorConfig) === metadata.name)) return undefined;
  const none = `${kind} ${metadata.name} has no webhook`;
  const config = isTag ? configOfTag({ configs }, owner) : owner;
  if (config?.spec.paused === true) {
    const message = `${none}: InjectorConfig ${config.metadata.name} is paused (spec.paused)`;
    return { reason: 'Paused', message, command: commandLine`injector enable --revision ${revisionOf(config)}` };
  }
  if (health === undefined && owner.status === undefined) return undefined;
  const { ready, reason, message } = readinessOf(owner, health && staleSince(health, spec.operatorClass));
  const gone = 'the webhook was deleted; if the operator does not create it again soon, read the log of the operator';
  const command = commandLine`kubectl describe ${kind.toLowerCase()} ${metadata.name}`;
  return { reason: 'NotPublished', message: `${none}: ${ready ? gone : `${reason}: ${message}`}`, command };
}
