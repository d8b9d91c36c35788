import { gatePrefix, replacingAnnotation } from '../api/names.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { jobLabels } from '../manifests/replaceable-pods.ts';
import type { Labels } from '../selection/label-selector.ts';
import type { HeldOwner } from './replacement-pace.ts';

/** The part of a pod without a node that is cached. The details are kept only of held pods. */
export interface PendingPod extends KubernetesObject {
  /** The controller; undefined without one, and for a pod that is being deleted. */
  readonly owner: HeldOwner | undefined;
  readonly held: HeldPod | undefined;
}

/** A pod with one of our gates. */
export interface GatedPod extends PendingPod {
  readonly held: HeldPod;
}

export interface HeldPod {
  /** All scheduling gates, including those of others. */
  readonly gates: readonly string[];
  readonly labels: Labels;
  /** `apiVersion/kind` of the controller. */
  readonly ownerKind: string | undefined;
  /** Whether the operator has separated the pod from its Job. */
  readonly isSeparated: boolean;
  /** The creation time, in milliseconds since 1970. */
  readonly since: number;
  readonly isHostNetwork: boolean;
  /** The names of annotations with the value `false`, among them that of an opt-out. */
  readonly optOuts: readonly string[];
}

/** The limits of a held pod. The operator leaves larger pods alone, to bound memory and work. */
const most = { gates: 32, labels: 128 };

export function isOurGate(gate: string): boolean {
  return gate.startsWith(gatePrefix);
}

export function isGated(pod: PendingPod): pod is GatedPod {
  return pod.held !== undefined;
}

/** Selects pods without a node that may still start (Pod fields spec.nodeName, status.phase). */
export const pendingSelector = 'spec.nodeName=,status.phase=Pending';

/** Returns the record of a pod. */
export function pendingPod({ apiVersion, kind, metadata, spec }: KubernetesObject): PendingPod {
  const { name = '', namespace = '', uid = '', resourceVersion = '', ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const { schedulingGates = [] } = (spec ?? {}) as { schedulingGates?: readonly { readonly name: string }[] };
  const gates = schedulingGates.map((gate) => gate.name);
  const { annotations = {}, labels = {}, creationTimestamp = '' } = metadata;
  const isBeingDeleted = metadata.deletionTimestamp !== undefined;
  const isSmall = gates.length <= most.gates && Object.keys(labels).length <= most.labels;
  const isHeld = isSmall && gates.some(isOurGate) && !isBeingDeleted;
  const { hostNetwork } = (spec ?? {}) as { hostNetwork?: unknown };
  const optOuts = Object.keys(annotations).filter((name) => annotations[name] === 'false');
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } },
    owner: isBeingDeleted || owner === undefined ? undefined : { uid: owner.uid, namespace },
    held: isHeld
      ? {
          gates,
          labels,
          ownerKind: owner && `${owner.apiVersion}/${owner.kind}`,
          isSeparated: annotations[replacingAnnotation] !== undefined && jobLabels.every((each) => !(each in labels)),
          since: Date.parse(creationTimestamp),
          isHostNetwork: hostNetwork === true,
          optOuts: optOuts.slice(0, most.labels),
        }
      : undefined,
  };
}

/** What is known about the webhook of a gate. */
export type GateState =
  /** No webhook and no policy exists, and no InjectorConfig or tag asks for them. */
  | 'gone'
  /** The webhook is missing, but will be written again; or it belongs to another operator. */
  | 'unknown'
  | {
      /** Whether a replica serves an InjectorConfig of the webhook. Otherwise, every call fails. */
      readonly isServed: boolean;
      /** The annotation with which a pod opts out, unless a label of this name overrides it. */
      readonly inject: string;
      /** Reports whether the live selectors select a pod; undefined if its namespace is unknown. */
      readonly selects: (pod: Labels, namespace: string) => boolean | undefined;
    };

/** What to do with a held pod. `Stay` needs an action by a user, or waits for a change. */
export type HeldAction = 'Release' | 'Delete' | 'SeparateFromJob' | 'Stay';

const deletable: readonly (string | undefined)[] = ['apps/v1/ReplicaSet', 'apps/v1/StatefulSet', 'apps/v1/DaemonSet'];

/**
 * Decides about a held pod and one of its gates. A pod that no webhook selects any more is
 * released; any other pod is replaced, if its controller creates another one. An annotation does
 * not prove that a pod is injected, because authors can write it into a template.
 */
export function judgeHeldPod({ held: pod, metadata }: GatedPod, gate: GateState): HeldAction {
  if (pod.isSeparated && pod.ownerKind === undefined) return 'Delete';
  if (gate === 'gone') return 'Release';
  if (gate === 'unknown') return 'Stay';
  const isSelected = gate.selects(pod.labels, metadata.namespace ?? '');
  if (isSelected !== true) return isSelected === undefined ? 'Stay' : 'Release';
  // The match conditions of every webhook exclude such pods (see `generatedMatchConditions`).
  if (pod.isHostNetwork) return 'Release';
  if (pod.optOuts.includes(gate.inject) && !Object.hasOwn(pod.labels, gate.inject)) return 'Release';
  if (deletable.includes(pod.ownerKind)) return 'Delete';
  return pod.ownerKind === 'batch/v1/Job' && !pod.isSeparated ? 'SeparateFromJob' : 'Stay';
}
