import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import {
  parseRestartAnnotation,
  restartChoiceAnnotation,
  restartedAnnotation,
  type WorkloadRestart,
} from '../../api/revision-tag/restart-annotation.ts';
import { recordOf, type RolloutWorkload } from '../../routing/workload-key.ts';
import { countOf } from '../pods/pod-health.ts';

type Labels = Readonly<Record<string, string>>;

/** The parts of a Deployment, StatefulSet or DaemonSet that are kept in memory, bounded in size. */
export interface WorkloadRecord extends KubernetesObject {
  /** Only name, namespace, uid and resourceVersion. */
  metadata: ObjectMeta;
  /** The restarts in our annotation on its pod template, latest first. */
  readonly restarts: readonly WorkloadRestart[];
  /** `spec.paused`. */
  readonly paused: boolean;
  /** The type of `spec.strategy` or `spec.updateStrategy`. */
  readonly updateType?: string;
  /** A StatefulSet's `spec.updateStrategy.rollingUpdate.partition`; 0 without one. */
  readonly partition: number;
  /** Whether every pod has the current template and is available, and no other pod remains. */
  readonly isComplete: boolean;
  /** Grows as pods are replaced and become available; 0 until its controller observes the spec. */
  readonly progress: number;
  /** Whether it is being deleted. */
  readonly isLeaving: boolean;
  /** Whether a user excluded it (annotation `sidecar-injector.io/restart: "false"`). */
  readonly isExcluded: boolean;
  /** Whether its pod template already contains a sidecar (kube-inject). */
  readonly isInjectedByHand: boolean;
  /** The labels of its pod template; undefined above {@link labelsLimit}. */
  readonly labels: Labels | undefined;
}

/** The limits of template labels; above them, every budget of the namespace covers the workload. */
export const labelsLimit = { count: 64, characters: 4096 } as const;

/** An upper bound of the length of strategy types. */
const updateTypeLimit = 32;

const none: readonly WorkloadRestart[] = [];
const noLabels: Labels = {};

/** Returns the record of a workload; a field of a wrong type counts as absent. */
export function recordOfWorkload(object: KubernetesObject): WorkloadRecord {
  const { apiVersion, kind, metadata } = object;
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  const spec = recordOf(object.spec);
  const template = recordOf(recordOf(spec['template'])['metadata']);
  const strategy = recordOf(spec[kind === 'Deployment' ? 'strategy' : 'updateStrategy']);
  const { type } = strategy;
  const annotations = recordOf(template['annotations']);
  const restarts = parseRestartAnnotation(annotations[restartedAnnotation]);
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    restarts: restarts.length === 0 ? none : restarts,
    paused: spec['paused'] === true,
    ...(typeof type === 'string' ? { updateType: type.slice(0, updateTypeLimit) } : {}),
    partition: kind === 'StatefulSet' ? countOf(recordOf(strategy['rollingUpdate'])['partition']) : 0,
    isComplete: isComplete(object),
    progress: progressOf(object),
    isLeaving: metadata.deletionTimestamp !== undefined,
    isExcluded: metadata.annotations?.[restartChoiceAnnotation] === 'false',
    isInjectedByHand: Object.hasOwn(annotations, injectedByAnnotation),
    labels: boundedLabels(template['labels']),
  };
}

/** Returns the workload of a record or object. */
export function workloadOf({ kind, metadata: { namespace = '', name = '' } }: KubernetesObject): RolloutWorkload {
  return { namespace, kind, name };
}

/**
 * Reports completion as `kubectl rollout status` does, for a Deployment also as its controller
 * (DeploymentComplete). Requires that the status is of the current generation.
 */
function isComplete({ kind, metadata, spec, status }: KubernetesObject): boolean {
  const seen = recordOf(status);
  if (countOf(seen['observedGeneration']) < (metadata.generation ?? 0)) return false;
  const has = (field: string): number => countOf(seen[field]);
  if (kind === 'DaemonSet') {
    // The controller writes this count together with observedGeneration.
    const desired = has('desiredNumberScheduled');
    return has('updatedNumberScheduled') >= desired && has('numberAvailable') >= desired;
  }
  const { replicas } = recordOf(spec);
  const desired = typeof replicas === 'number' ? replicas : 1;
  return has('replicas') === desired && has('updatedReplicas') === desired && has('availableReplicas') === desired;
}

/** An upper bound of the pods of a workload. */
const manyPods = 1e7;

/** Compares new pods first, then available ones, whose number varies while old pods terminate. */
function progressOf({ kind, metadata, status }: KubernetesObject): number {
  const seen = recordOf(status);
  if (countOf(seen['observedGeneration']) < (metadata.generation ?? 0)) return 0;
  const [updated, available] =
    kind === 'DaemonSet' ? ['updatedNumberScheduled', 'numberAvailable'] : ['updatedReplicas', 'availableReplicas'];
  return countOf(seen[updated]) * manyPods + countOf(seen[available]);
}

function boundedLabels(value: unknown): Labels | undefined {
  const labels = Object.entries(recordOf(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const characters = labels.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (labels.length > labelsLimit.count || characters > labelsLimit.characters) return undefined;
  return labels.length === 0 ? noLabels : Object.fromEntries(labels);
}
