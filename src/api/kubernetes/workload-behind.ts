/** A pod's controller or workload. */
export interface PodOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
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
