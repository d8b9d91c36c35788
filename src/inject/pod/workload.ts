import { workloadBehind } from '../../api/kubernetes/workload-behind.ts';
import type { Pod } from './pod.ts';

/** The workload of a pod, as templates see it. */
export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns the workload that owns a pod, or else the pod (Istio's GetDeployMetaFromPod). */
export function workloadOf(pod: Pod): Workload {
  const { metadata } = pod;
  const namespace = metadata.namespace ?? '';
  const own: Workload = { name: metadata.name ?? '', namespace, apiVersion: 'v1', kind: 'Pod' };
  if ((metadata.generateName ?? '') === '') return own;
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller === undefined) return own;
  const { apiVersion, kind } = controller;
  const behind = workloadBehind({ apiVersion, kind, name: controller.name }, metadata.labels ?? {});
  return { namespace, ...behind, name: behind.name === '' ? own.name : behind.name };
}
