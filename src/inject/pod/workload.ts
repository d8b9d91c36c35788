import { labelOf, type Pod } from './pod.ts';

/** The workload that a pod belongs to, as templates see it. */
export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** Jobs of a CronJob are named after the minute they were made for. */
const cronJobName = /^(.+)-\d{8,10}$/;

/**
 * The workload of a pod, from the pod alone: its controller when its name is generated, and what stands behind the controller where names
 * and labels tell (Istio's GetDeployMetaFromPod). Otherwise the pod itself.
 */
export function workloadOf(pod: Pod): Workload {
  const { metadata } = pod;
  const namespace = metadata.namespace ?? '';
  const own: Workload = { name: metadata.name ?? '', namespace, apiVersion: 'v1', kind: 'Pod' };
  if ((metadata.generateName ?? '') === '') return own;
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller === undefined) return own;
  const { name, apiVersion, kind } = controller;
  const workload: Workload = { name: name === '' ? own.name : name, namespace, apiVersion, kind };
  switch (kind) {
    case 'ReplicaSet':
      return behindReplicaSet(pod, workload);
    case 'ReplicationController': {
      const deploymentConfig = labelOf(pod, 'deploymentconfig') ?? '';
      return deploymentConfig === '' ? workload : { ...workload, name: deploymentConfig, kind: 'DeploymentConfig' };
    }
    case 'Job': {
      const cronJob = cronJobName.exec(name)?.[1];
      return cronJob === undefined ? workload : { ...workload, name: cronJob, apiVersion: 'batch/v1', kind: 'CronJob' };
    }
    default:
      return workload;
  }
}

function behindReplicaSet(pod: Pod, replicaSet: Workload): Workload {
  const rollout = labelOf(pod, 'rollouts-pod-template-hash') ?? '';
  if (rollout !== '' && replicaSet.name.endsWith(rollout)) {
    return {
      ...replicaSet,
      name: withoutSuffix(replicaSet.name, `-${rollout}`),
      apiVersion: 'v1alpha1',
      kind: 'Rollout',
    };
  }
  const deployment = labelOf(pod, 'pod-template-hash') ?? '';
  if (deployment !== '' && replicaSet.name.endsWith(deployment)) {
    return { ...replicaSet, name: withoutSuffix(replicaSet.name, `-${deployment}`), kind: 'Deployment' };
  }
  return replicaSet;
}

function withoutSuffix(text: string, suffix: string): string {
  return text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}
