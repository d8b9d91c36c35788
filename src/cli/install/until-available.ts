import { setTimeout as sleep } from 'node:timers/promises';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { pods } from '../../operator/cluster-view.ts';
import type { Terminal } from '../terminal.ts';
import { releaseName } from './find-releases.ts';

interface Deployment extends KubernetesObject {
  spec: { replicas?: number; selector: { matchLabels: Record<string, string> } };
  status?: Partial<Record<'observedGeneration' | 'updatedReplicas' | 'availableReplicas', number>> & {
    conditions?: Condition[];
  };
}

interface PodStatus {
  conditions?: Condition[];
  containerStatuses?: { state?: Partial<Record<'waiting' | 'terminated', Partial<Condition>>> }[];
}

/** Polls a condition. Returns false after the time limit. */
export async function poll(seconds: number, holds: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    if (await holds()) return true;
    if (performance.now() >= end) return false;
    await sleep(250);
  }
}

/**
 * Waits until a Deployment is available with its current template, and prints obstacles when they
 * change.
 * @returns false after the time limit
 */
export function untilAvailable(
  client: ApiClient,
  { metadata: { name = '', namespace } }: KubernetesObject,
  seconds: number,
  terminal: Terminal,
): Promise<boolean> {
  let printed = '';
  return poll(seconds, async () => {
    const live = await client.get<Deployment>(resourceKind('apps/v1', 'Deployment'), name, { namespace });
    const { replicas = 1 } = live.spec;
    const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0 } = live.status ?? {};
    const isSeen = observedGeneration >= (live.metadata.generation ?? 0);
    const isAvailable = isSeen && Math.min(updatedReplicas, availableReplicas) >= replicas;
    const obstacles = isAvailable ? [] : await obstaclesOf(client, live);
    const line = [`${releaseName(live)}: ${availableReplicas} of ${replicas} available`, ...obstacles].join('; ');
    if (isAvailable) terminal.out(line);
    else if (line !== printed) terminal.error(line);
    printed = line;
    return isAvailable;
  });
}

/** Returns the pods that a Deployment selects. */
export async function podsOfDeployment(
  client: ApiClient,
  { metadata, spec }: KubernetesObject,
): Promise<KubernetesObject[]> {
  const labels = Object.entries((spec as Deployment['spec']).selector.matchLabels);
  const labelSelector = labels.map((label) => label.join('=')).join(',');
  return (await client.listAll(pods, { namespace: metadata.namespace, labelSelector })).items;
}

/** Returns the reasons why a Deployment and its pods are not ready, without duplicates. */
async function obstaclesOf(client: ApiClient, deployment: Deployment): Promise<string[]> {
  const statuses = (await podsOfDeployment(client, deployment)).map(({ status = {} }) => status as PodStatus);
  const conditions = [
    ...(deployment.status?.conditions ?? []),
    ...statuses.flatMap((status) => status.conditions ?? []),
  ];
  const faults = conditions.filter(({ type, status }) =>
    ['ReplicaFailure True', 'PodScheduled False'].includes(`${type} ${status}`),
  );
  const states = statuses
    .flatMap(({ containerStatuses = [] }) => containerStatuses)
    .flatMap(({ state = {} }) => state.waiting ?? state.terminated ?? []);
  const sentences = [...faults, ...states].map(({ reason, message }) => [reason, message].filter(Boolean).join(': '));
  return [...new Set(sentences)].filter((sentence) => sentence !== '' && sentence !== 'ContainerCreating');
}
