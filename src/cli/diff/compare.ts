import { injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { explainCreation, type ExplanationInputs } from '../../explain/explain-creation.ts';
import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import { containerDefaults } from '../../explain/limit-range.ts';
import { podChanges } from '../../explain/pod-changes.ts';
import { addResources, noResources, podResources, type PodResources } from '../../explain/pod-resources.ts';
import {
  type CreationContext,
  isGenerated,
  type NamedInjector,
  originOf,
  type PredictedPod,
  predictPod,
} from '../../explain/predict-pod.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { uninjectPod } from '../../explain/uninject.ts';
import type { NodeFacts, ProxyConfigResource } from '../../inject/injection-request.ts';
import type { Injector } from '../../inject/injector.ts';
import type { WebhookTarget } from '../../explain/pod-webhook.ts';
import { creationOf } from '../check/facts.ts';
import type { InjectionOutcome, WorkloadDiff } from './diff-report.ts';
import type { DiffWorkload } from './read-workloads.ts';

/** The two configurations for a pod. */
export interface InjectorPair {
  readonly before: NamedInjector;
  readonly after: NamedInjector;
}

/** The inputs of a comparison, apart from the workload. */
export interface DiffFacts {
  readonly surroundings: ExplanationInputs;
  readonly namespaces: ReadonlyMap<string, KubernetesObject>;
  readonly limitRanges: readonly KubernetesObject[];
  readonly nodes: readonly NodeFacts[];
  readonly proxyConfigs: readonly ProxyConfigResource[];
  /** Returns the pair for the configuration that is active for a pod; undefined to skip the pod. */
  readonly pairOf: (active: WebhookTarget, injector: Injector) => InjectorPair | undefined;
  /** The pair for every pod, if no webhook decides; then `pairOf` is not called. */
  readonly pair?: InjectorPair;
  /** Receives why the active configuration of a workload cannot be used. */
  readonly onUnknown: (reason: string) => void;
  /** Returns the injector of an entry `N.<hash8>`, if its configuration still exists. */
  readonly injectorOf: (entry: string) => NamedInjector | undefined;
}

/** Compares the pods of a workload before and after. Undefined if no injector concerns them. */
export function compareWorkload(
  workload: DiffWorkload,
  facts: DiffFacts,
  isDetailed: boolean,
): WorkloadDiff | undefined {
  const { stored, template, namespace } = workload;
  const source = stored ?? template?.pod;
  if (source === undefined) return undefined;
  const pair = facts.pair ?? activePair(workload, facts);
  if (pair === undefined) return undefined;
  const { annotations = {} } = facts.namespaces.get(namespace)?.metadata ?? {};
  const context: CreationContext = {
    request: {
      namespace,
      path: '/inject',
      namespaceMetadata: { annotations },
      nodes: facts.nodes,
      proxyConfigs: facts.proxyConfigs,
    },
    containerDefaults: containerDefaults(facts.limitRanges.filter(({ metadata }) => metadata.namespace === namespace)),
  };
  return stored === undefined
    ? compareTemplate(workload, admissionPod(source, namespace), pair, context, isDetailed)
    : compareStored(workload, stored, pair, context, facts, isDetailed);
}

/** Finds the webhook that the API server would call for a new pod of the workload. */
function activePair(
  { stored, template, namespace, kind, name }: DiffWorkload,
  facts: DiffFacts,
): InjectorPair | undefined {
  const { pod } = uninjectPod(stored ?? template?.pod ?? {});
  const creation = creationOf({ kind, namespace, name, pod, notes: [] }, facts.namespaces);
  for (const { target, outcome } of explainCreation(creation, facts.surroundings).webhooks) {
    if (target === undefined || outcome === 'NotCalled') continue;
    const injector = facts.surroundings.injectorOf(target);
    if ('unavailable' in injector) {
      facts.onUnknown(`InjectorConfig ${target.injectorConfig}: ${injector.unavailable}`);
      continue;
    }
    const pair = facts.pairOf(target, injector);
    if (pair !== undefined) return pair;
  }
  return undefined;
}

function compareTemplate(
  workload: DiffWorkload,
  pod: Record<string, unknown>,
  { before, after }: InjectorPair,
  context: CreationContext,
  isDetailed: boolean,
): WorkloadDiff {
  const [old, now] = [predictPod(pod, before, context), predictPod(pod, after, context)];
  const origin = { changedByOthers: [], notes: workload.template?.notes ?? [], isEstimated: true };
  return { ...diffOf(workload, old, now, before, after, isDetailed), ...origin };
}

function compareStored(
  workload: DiffWorkload,
  stored: KubernetesObject,
  { before, after }: InjectorPair,
  context: CreationContext,
  facts: DiffFacts,
  isDetailed: boolean,
): WorkloadDiff {
  const { status } = before.injector.family.keys;
  const entries = injectedByOf(stored);
  const found = entries.map((entry) => facts.injectorOf(entry));
  const by = found.find((each) => each?.injector.family.keys.status === status);
  const isLost = by === undefined && stored.metadata.annotations?.[status] !== undefined;
  const { pod, changedByOthers, lost, finish } = originOf(stored, by, context);
  const predict = (injector: NamedInjector): PredictedPod => {
    const predicted = predictPod(pod, injector, context);
    return predicted.pod === undefined ? predicted : { ...predicted, pod: finish(predicted.pod) };
  };
  const notes = lost.map(({ field, reason }) => `${field}: ${reason}`);
  if (isLost) notes.push(`the configuration that injected the pod is not known (${entries.join(', ') || 'no entry'})`);
  const diff = diffOf(workload, predict(before), predict(after), before, after, isDetailed);
  return { ...diff, changedByOthers, notes, isEstimated: isLost };
}

function diffOf(
  { namespace, kind, name, pods }: DiffWorkload,
  old: PredictedPod,
  now: PredictedPod,
  before: NamedInjector,
  after: NamedInjector,
  isDetailed: boolean,
): Omit<WorkloadDiff, 'isEstimated' | 'changedByOthers' | 'notes'> {
  const keys = [before, after].map(({ injector }) => injector.family.keys.status);
  const hidden = new Set([injectedByAnnotation, ...keys].map((key) => `metadata.annotations["${key}"]`));
  const isHidden = (path: string): boolean => hidden.has(path) || isGenerated(path);
  const resourcesOf = ({ pod }: PredictedPod): PodResources => addResources(noResources, podResources(pod ?? {}), pods);
  const isRefused = old.pod === undefined || now.pod === undefined;
  return {
    namespace,
    kind,
    name,
    pods,
    before: outcomeOf(old, before),
    after: outcomeOf(now, after),
    changes: old.pod && now.pod ? podChanges(old.pod, now.pod, isHidden) : [],
    // Old pods keep running if new pods are refused.
    resources: isRefused ? noSums : { before: resourcesOf(old), after: resourcesOf(now) },
    ...(isDetailed && { predicted: { before: old.pod, after: now.pod } }),
  };
}

const noSums = { before: noResources, after: noResources };

function outcomeOf({ outcome, reason, message }: PredictedPod, { name, hash }: NamedInjector): InjectionOutcome {
  return { outcome, reason, message, configuration: `${name}.${hash}` };
}
