import { dnsSubdomainPattern } from './field-types.ts';

/** A pod's controller or workload. */
export interface PodOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** The word that replaces a name or kind that no object can have. No name has capital letters. */
export const impossible = 'INVALID';

/** Empty, or a DNS-1035 label in any case (ValidateCustomResourceDefinitionNames). */
const kindPattern = /^([A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/;

/**
 * Returns kind and name as they may be stored and printed. Authors choose the owners of a pod:
 * Kubernetes requires only that kind and name are not empty (ValidateOwnerReferences). It does not
 * check the character before the final `-` of a generateName (maskTrailingDash).
 */
export function shownOwner(kind: unknown, name: unknown): Pick<PodOwner, 'kind' | 'name'> {
  const isKind = typeof kind === 'string' && kindPattern.test(kind);
  const isText = typeof name === 'string' && name.length <= 253;
  const isName = isText && (name === '' || dnsSubdomainPattern.test(name.replace(/(?<!-)-+$/, '')));
  return { kind: isKind ? kind : impossible, name: isName ? name : impossible };
}

/** The name of a CronJob's Job ends with the scheduled minute. */
const cronJobName = /^(.+)-\d{8,10}$/;

/**
 * Derives the workload from the name of a pod's controller and the pod's labels: the Deployment or
 * Argo Rollout of a ReplicaSet, the CronJob of a Job, the DeploymentConfig of a
 * ReplicationController, or else the controller. Follows Istio's GetDeployMetaFromPod.
 * @param labels the pod's labels; values that are not strings count as absent
 */
export function workloadBehind(
  { apiVersion, kind, name }: PodOwner,
  labels: Readonly<Record<string, unknown>>,
): PodOwner {
  const controller = { apiVersion, kind, name };
  if (kind === 'ReplicaSet') return workloadOfReplicaSet(controller, labels);
  if (kind === 'ReplicationController') {
    const deploymentConfig = textOf(labels, 'deploymentconfig');
    return deploymentConfig === '' ? controller : { apiVersion, kind: 'DeploymentConfig', name: deploymentConfig };
  }
  const cronJob = kind === 'Job' ? cronJobName.exec(name)?.[1] : undefined;
  return cronJob === undefined ? controller : { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob };
}

function workloadOfReplicaSet(replicaSet: PodOwner, labels: Readonly<Record<string, unknown>>): PodOwner {
  const deploymentHash = textOf(labels, 'pod-template-hash');
  if (deploymentHash !== '' && replicaSet.name.endsWith(deploymentHash))
    return { ...replicaSet, kind: 'Deployment', name: withoutSuffix(replicaSet.name, `-${deploymentHash}`) };
  const rolloutHash = textOf(labels, 'rollouts-pod-template-hash');
  if (rolloutHash === '' || !replicaSet.name.endsWith(rolloutHash)) return replicaSet;
  return { apiVersion: 'v1alpha1', kind: 'Rollout', name: withoutSuffix(replicaSet.name, `-${rolloutHash}`) };
}

function textOf(labels: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return typeof value === 'string' ? value : '';
}

function withoutSuffix(text: string, suffix: string): string {
  return text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}
