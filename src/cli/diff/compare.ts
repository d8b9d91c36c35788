import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import { injectionRecords } from '../../inject/pod/injection-records.ts';
import { type InPlaceObstacle, inPlaceObstacles } from '../../explain/in-place.ts';
import { podChanges, type PodChange } from '../../explain/pod-changes.ts';
import {
  addResources,
  containerDefaults,
  noResources,
  podResources,
  type PodResources,
} from '../../explain/pod-resources.ts';
import {
  asAdmitted,
  type CreationContext,
  isGenerated,
  type NamedInjector,
  originOf,
  type PredictedPod,
  predictPod,
} from '../../explain/predict-pod.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import type { NodeFacts, ProxyConfigResource } from '../../inject/injection-request.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import type { InjectionOutcome, WorkloadDiff } from './diff-report.ts';
import type { DiffWorkload } from './read-workloads.ts';

/** The two configurations for a pod. */
export interface InjectorPair {
  /** Absent to compare the running pod, as it is, with a new one. */
  readonly before?: NamedInjector;
  readonly after: NamedInjector;
}

/** What the creation of a pod depends on, apart from the pod. */
export interface CreationFacts {
  readonly namespaces: ReadonlyMap<string, KubernetesObject>;
  readonly limitRanges: readonly KubernetesObject[];
  readonly nodes: readonly NodeFacts[];
  readonly proxyConfigs: readonly ProxyConfigResource[];
}

/** Returns the environment in which pods of a namespace are created. */
export function contextIn(namespace: string, facts: CreationFacts): CreationContext {
  const { nodes, proxyConfigs, limitRanges } = facts;
  const { annotations = {} } = facts.namespaces.get(namespace)?.metadata ?? {};
  return {
    request: { namespace, path: '/inject', namespaceMetadata: { annotations }, nodes, proxyConfigs },
    containerDefaults: containerDefaults(limitRanges.filter(({ metadata }) => metadata.namespace === namespace)),
  };
}

/** The inputs of a comparison, apart from the workload. */
export interface DiffFacts extends CreationFacts {
  /** Returns the pair for new pods of a workload; undefined to skip the workload. */
  readonly pairOf: (workload: DiffWorkload) => InjectorPair | undefined;
  /** Returns the injector of an entry `N.<hash8>`, if its configuration still exists. */
  readonly injectorOf: (entry: string) => NamedInjector | undefined;
  /** The labels that selectors of Services read, by namespace; undefined if not known. */
  readonly selectedLabels: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Whether the results contain the predicted pods. */
  readonly isDetailed: boolean;
}

/** Compares the pods of a workload before and after. Undefined if no injector concerns them. */
export function compareWorkload(workload: DiffWorkload, facts: DiffFacts): WorkloadDiff | undefined {
  const { stored, template, namespace, kind, name, pods } = workload;
  const source = stored ?? template?.pod;
  const pair = source && facts.pairOf(workload);
  if (source === undefined || pair === undefined) return undefined;
  const { before, after } = pair;
  const by = before ?? (stored && injectorBehind(stored, after, facts)) ?? after;
  const context = contextIn(namespace, facts);
  const { predict, ...origin } =
    stored === undefined
      ? templateOrigin(admissionPod(source, namespace), template?.notes ?? [], context)
      : storedOrigin(stored, by, context, facts);
  const [old, now] = [before === undefined ? runningPod(stored) : predict(before), predict(after)];
  const changesBetween = (one: JsonObject, other: JsonObject): PodChange[] => {
    const records = injectionRecords({ pod: one, ...by }, { pod: other, ...after });
    const hidden = new Set(records.map(([map, key]) => `metadata.${map}["${key}"]`));
    return podChanges(one, other, (path) => hidden.has(path) || isGenerated(path));
  };
  const resourcesOf = ({ pod }: PredictedPod): PodResources => addResources(noResources, podResources(pod ?? {}), pods);
  const isRefused = old.pod === undefined || now.pod === undefined;
  const changes = old.pod && now.pod ? changesBetween(old.pod, now.pod) : [];
  const needsRestart =
    stored && now.pod && changes.length > 0
      ? restartReasons(workload, stored, now.pod, origin.changedByOthers, after, facts)
      : undefined;
  return {
    namespace,
    kind,
    name,
    pods,
    before: outcomeOf(old, before === undefined ? entriesOf(stored) : nameOf(before)),
    after: outcomeOf(now, nameOf(after)),
    changes,
    ...(needsRestart && { needsRestart }),
    // Old pods keep running if new pods are refused.
    resources: isRefused ? noSums : { before: resourcesOf(old), after: resourcesOf(now) },
    ...(facts.isDetailed && { predicted: { before: old.pod, after: now.pod } }),
    ...origin,
  };
}

/** Returns what keeps running pods, on kubelets of several versions, from becoming new ones. */
function restartReasons(
  { onNodes = new Set<string>() }: DiffWorkload,
  stored: KubernetesObject,
  wanted: JsonObject,
  changedByOthers: readonly string[],
  { injector: { family } }: NamedInjector,
  { nodes, selectedLabels }: DiffFacts,
): readonly InPlaceObstacle[] {
  const running = asAdmitted(stored);
  const { namespace = '' } = stored.metadata;
  const changes = podChanges(running, wanted, isGenerated);
  const isSelected = (label: string): boolean =>
    selectedLabels === undefined || selectedLabels.get(namespace)?.has(label) === true;
  const versions = new Map(nodes.map(({ name, kubeletVersion }) => [name, kubeletVersion]));
  const isScheduled = onNodes.size > 0;
  for (const kubeletVersion of new Set(isScheduled ? [...onNodes].map((node) => versions.get(node)) : [undefined])) {
    const situation = { kubeletVersion, isScheduled, family, isSelected };
    const obstacles = inPlaceObstacles(running, wanted, changes, changedByOthers, situation);
    if (obstacles.length > 0) return obstacles;
  }
  return [];
}

export const noSums = { before: noResources, after: noResources };

/** How to predict the pods of a workload, and what is known about their origin. */
interface WorkloadOrigin extends Pick<WorkloadDiff, 'changedByOthers' | 'notes' | 'isEstimated'> {
  readonly predict: (injector: NamedInjector) => PredictedPod;
}

function templateOrigin(pod: JsonObject, notes: readonly string[], context: CreationContext): WorkloadOrigin {
  return {
    predict: (injector) => predictPod(pod, injector, context),
    changedByOthers: [],
    notes,
    isEstimated: true,
  };
}

function storedOrigin(
  stored: KubernetesObject,
  pair: NamedInjector,
  context: CreationContext,
  facts: DiffFacts,
): WorkloadOrigin {
  const entries = entriesOf(stored);
  const by = injectorBehind(stored, pair, facts);
  const isLost = by === undefined && stored.metadata.annotations?.[statusKey(pair)] !== undefined;
  const { pod, changedByOthers, lost, finish } = originOf(stored, by, context);
  const predict = (injector: NamedInjector): PredictedPod => {
    const predicted = predictPod(pod, injector, context);
    return predicted.pod === undefined ? predicted : { ...predicted, pod: finish(predicted.pod) };
  };
  const notes = lost.map(({ field, reason }) => `${field}: ${reason}`);
  const unknown = `the configuration that injected the pod is not known (${entries})`;
  if (isLost) notes.push(entries === '' ? 'another injector injected the pod' : unknown);
  return { predict, changedByOthers, notes, isEstimated: isLost };
}

/** Returns the injector of a family that injected a pod, if its configuration still exists. */
function injectorBehind(
  stored: KubernetesObject,
  ofFamily: NamedInjector,
  { injectorOf }: DiffFacts,
): NamedInjector | undefined {
  const found = injectedByOf(stored).map((entry) => injectorOf(entry));
  return found.find((each) => each && statusKey(each) === statusKey(ofFamily));
}

const statusKey = ({ injector: { family } }: NamedInjector): string => family.keys.status;

/** Returns the newest running pod as it is. */
function runningPod(stored: KubernetesObject | undefined): PredictedPod {
  const reason = 'Running';
  if (stored === undefined) return { outcome: 'NotInjected', reason, message: 'there is no running pod' };
  const [outcome, message] =
    entriesOf(stored) === ''
      ? (['NotInjected', 'the newest running pod is not injected by an InjectorConfig'] as const)
      : (['Injected', 'the newest running pod'] as const);
  return { outcome, reason, message, pod: asAdmitted(stored) };
}

function entriesOf(stored: KubernetesObject | undefined): string {
  return stored === undefined ? '' : injectedByOf(stored).join(', ');
}

function nameOf({ name, hash }: NamedInjector): string {
  return `${name}.${hash}`;
}

function outcomeOf({ outcome, reason, message }: PredictedPod, configuration: string): InjectionOutcome {
  return { outcome, reason, message, configuration };
}
