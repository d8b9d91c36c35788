import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { heldPrefix } from '../../../src/manifests/replaceable-pods.ts';
import { conditionOf } from '../../harness/injector-configs.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { untilActive } from '../../harness/until-active.ts';
import { none, waitFor } from '../../harness/wait-for.ts';
import { webhooks, type WebhookConfiguration } from '../../harness/webhook-configurations.ts';
import { barePod, type WorkloadOptions } from '../../harness/workloads.ts';

/** Waits until the live webhook of an InjectorConfig relies on its policy, or does not any more. */
export async function untilHolding({ client }: ScenarioContext, config: string, webhook = config, isExpected = true) {
  const isSo = async () => {
    const live = await client.get<WebhookConfiguration>(webhooks, `sidecar-injector-${webhook}`);
    if (isHolding(live) === isExpected) return true;
    throw new Error(JSON.stringify(await conditionOf(client, config, 'HoldUnavailable')));
  };
  const what = `webhook ${webhook} ${isExpected ? 'to rely on' : 'not to rely on'} its policy`;
  await waitFor(what, isSo, { timeout: 90_000 });
  await untilActive(client);
}

/** Waits until each webhook of an InjectorConfig or a tag relies on its policy. */
export async function untilAllHolding({ client }: ScenarioContext): Promise<void> {
  const labelSelector = 'app.kubernetes.io/managed-by=sidecar-injector';
  const areHolding = async () => {
    const { items } = await client.listAll<WebhookConfiguration>(webhooks, { labelSelector });
    return none(items.filter((each) => !isHolding(each)).map(({ metadata }) => metadata.name ?? ''));
  };
  await waitFor('all webhooks to rely on their policies', areHolding, { timeout: 90_000 });
  await untilActive(client);
}

function isHolding({ webhooks: entries }: WebhookConfiguration): boolean {
  return entries.some((each) => each.name.startsWith(heldPrefix));
}

/** Reports whether the API server serves MutatingAdmissionPolicies, as from Kubernetes 1.36 on. */
export async function servesPolicies({ client }: ScenarioContext): Promise<boolean> {
  try {
    await client.list(resourceKind('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy'), { limit: 1 });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Returns a pod that looks like the pod of a ReplicaSet, which does not exist. */
export function asReplaceable<T extends Pod>(pod: T): T {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'none', uid: 'uid-of-none', controller: true };
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } };
}

export function replaceablePod(namespace: string, name: string, options?: WorkloadOptions): KubernetesObject & Pod {
  return asReplaceable(barePod(namespace, name, options));
}
