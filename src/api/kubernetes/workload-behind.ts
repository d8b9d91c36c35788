/** What makes pods: a pod's controller, or what stands behind that. */
export interface Maker {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** Jobs of a CronJob are named after the minute they were made for. */
const cronJobName = /^(.+)-\d{8,10}$/;

/**
 * What stands behind the controller of a pod, where the controller's name and the pod's labels tell: the Deployment (or Argo's Rollout) of a
 * ReplicaSet, the CronJob of a Job, the DeploymentConfig of a ReplicationController; otherwise the controller itself. This is the rule of Istio's
 * GetDeployMetaFromPod.
 * @param labels of the pod; values that are no text count as absent
 */
export function workloadBehind({ apiVersion, kind, name }: Maker, labels: Readonly<Record<string, unknown>>): Maker {
  const controller = { apiVersion, kind, name };
  if (kind === 'ReplicaSet') return behindReplicaSet(controller, labels);
  if (kind === 'ReplicationController') {
    const deploymentConfig = textOf(labels, 'deploymentconfig');
    return deploymentConfig === '' ? controller : { apiVersion, kind: 'DeploymentConfig', name: deploymentConfig };
  }
  const cronJob = kind === 'Job' ? cronJobName.exec(name)?.[1] : undefined;
  return cronJob === undefined ? controller : { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob };
}

function behindReplicaSet(replicaSet: Maker, labels: Readonly<Record<string, unknown>>): Maker {
  const deployment = textOf(labels, 'pod-template-hash');
  if (deployment !== '' && replicaSet.name.endsWith(deployment))
    return { ...replicaSet, kind: 'Deployment', name: withoutSuffix(replicaSet.name, `-${deployment}`) };
  const rollout = textOf(labels, 'rollouts-pod-template-hash');
  if (rollout === '' || !replicaSet.name.endsWith(rollout)) return replicaSet;
  return { apiVersion: 'v1alpha1', kind: 'Rollout', name: withoutSuffix(replicaSet.name, `-${rollout}`) };
}

function textOf(labels: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return typeof value === 'string' ? value : '';
}

function withoutSuffix(text: string, suffix: string): string {
  return text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}
