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
  /** The restarts in our annotation on the pod template, latest first. */
  readonly restarts: readonly WorkloadRestart[];
  /** `spec.paused`. */
  readonly paused: boolean;
  /** The type of `spec.strategy` or `spec.updateStrategy`. */
  readonly updateType?: string;
  /** A StatefulSet's `spec.updateStrategy.rollingUpdate.partition`, or 0. */
  readonly partition: number;
  /** Whether every pod has the current template and is available, and no other pod remains. */
  readonly isComplete: boolean;
  /** Grows while pods are replaced and become available; 0 until the controller sees the spec. */
  readonly progress: number;
  readonly isBeingDeleted: boolean;
  /** Whether a user set annotation `sidecar-injector.io/restart: "false"`. */
  readonly isExcluded: boolean;
  /** Whether the pod template already contains a sidecar (kube-inject). */
  readonly isInjectedByHand: boolean;
  /** The labels of the pod template; undefined if they exceed {@link labelsLimit}. */
  readonly labels: Labels | undefined;
}

/** The limits of template labels; above them, every budget of the namespace covers the workload. */
export const labelsLimit = { count: 64, characters: 4096 } as const;

/** The maximum length of a strategy type, in characters. */
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
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
    isExcluded: metadata.annotations?.[restartChoiceAnnotation] === 'false',
    isInjectedByHand: Object.hasOwn(annotations, injectedByAnnotation),
    labels: boundedLabels(template['labels']),
  };
}

/** Returns the workload of a record or object. */
export function recordedWorkload({ kind, metadata: { namespace = '', name = '' } }: KubernetesObject): RolloutWorkload {
  return { namespace, kind, name };
}

/**
 * Reports whether a workload is complete, as `kubectl rollout status` does and, for a Deployment,
 * as its controller does (DeploymentComplete). A status of an older generation does not count.
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

/** A number larger than the pod count of any workload. */
const manyPods = 1e7;

/** Weighs new pods above available pods, whose number varies while old pods terminate. */
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
