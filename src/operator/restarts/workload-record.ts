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

/** What is kept of each Deployment, StatefulSet and DaemonSet while workloads are followed. Nothing whose size its author chooses. */
export interface WorkloadRecord extends KubernetesObject {
  /** Name, namespace, uid and resourceVersion alone. */
  metadata: ObjectMeta;
  /** Our annotation on its pod template, the latest restart first. */
  readonly restarts: readonly WorkloadRestart[];
  /** `spec.paused`. */
  readonly paused: boolean;
  /** The type of `spec.strategy` or `spec.updateStrategy`. */
  readonly updateType?: string;
  /** A StatefulSet's `spec.updateStrategy.rollingUpdate.partition`; 0 without one. */
  readonly partition: number;
  /** Its controller has done all that the present spec asks: every pod is of the present template and available, and no other is left. */
  readonly isComplete: boolean;
  /** Grows as its controller replaces its pods, and then as these become available; 0 while it has not seen the present spec. */
  readonly progress: number;
  /** It is being deleted. */
  readonly isLeaving: boolean;
  /** Somebody wants it left alone (annotation `sidecar-injector.io/restart: "false"`). */
  readonly isExcluded: boolean;
  /** Its pod template has been injected already. */
  readonly isInjectedByHand: boolean;
  /** The labels of its pod template; undefined when there are more than is kept ({@link labelsLimit}). */
  readonly labels: Labels | undefined;
}

/** A template with more labels, or more text in them, counts as covered by every PodDisruptionBudget of its namespace. */
export const labelsLimit = { count: 64, characters: 4096 } as const;

/** The longest name of a strategy is shorter. */
const updateTypeLimit = 32;

const none: readonly WorkloadRestart[] = [];
const noLabels: Labels = {};

/** The bounded part of a Deployment, StatefulSet or DaemonSet as the API server sends it; a part of a wrong type counts as absent. */
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

/** Which workload a record, or an object as the API server sends it, is of. */
export function workloadOf({ kind, metadata: { namespace = '', name = '' } }: KubernetesObject): RolloutWorkload {
  return { namespace, kind, name };
}

/**
 * The conditions under which `kubectl rollout status` says that a rollout is complete, and for a Deployment those of its controller
 * (DeploymentComplete). Available is: ready for the `minReadySeconds` of the workload. The numbers are of the generation that the controller has
 * seen, so that nothing counts that was true before the last edit.
 */
function isComplete({ kind, metadata, spec, status }: KubernetesObject): boolean {
  const seen = recordOf(status);
  if (countOf(seen['observedGeneration']) < (metadata.generation ?? 0)) return false;
  const has = (field: string): number => countOf(seen[field]);
  if (kind === 'DaemonSet') {
    // Absent until the controller has counted the nodes, which it says together with the generation.
    const wanted = has('desiredNumberScheduled');
    return has('updatedNumberScheduled') >= wanted && has('numberAvailable') >= wanted;
  }
  const { replicas } = recordOf(spec);
  const wanted = typeof replicas === 'number' ? replicas : 1;
  return has('replicas') === wanted && has('updatedReplicas') === wanted && has('availableReplicas') === wanted;
}

/** More than a workload has pods. */
const manyPods = 1e7;

/** New pods first, then those that are available: these come and go while old ones are taken away. */
function progressOf({ kind, metadata, status }: KubernetesObject): number {
  const seen = recordOf(status);
  if (countOf(seen['observedGeneration']) < (metadata.generation ?? 0)) return 0;
  const [updated, available] =
    kind === 'DaemonSet' ? ['updatedNumberScheduled', 'numberAvailable'] : ['updatedReplicas', 'availableReplicas'];
  return countOf(seen[updated]) * manyPods + countOf(seen[available]);
}

function boundedLabels(given: unknown): Labels | undefined {
  const labels = Object.entries(recordOf(given)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const characters = labels.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (labels.length > labelsLimit.count || characters > labelsLimit.characters) return undefined;
  return labels.length === 0 ? noLabels : Object.fromEntries(labels);
}
