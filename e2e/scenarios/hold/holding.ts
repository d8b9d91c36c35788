import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { heldPrefix } from '../../../src/manifests/replaceable-pods.ts';
import { conditionOf } from '../../harness/injector-configs.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { untilActive } from '../../harness/until-active.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { webhooks } from '../../harness/webhook-configurations.ts';
import { barePod, type WorkloadOptions } from '../../harness/workloads.ts';

/** Waits until the live webhook of an InjectorConfig relies on its policy, or does not any more. */
export async function untilHolding({ client }: ScenarioContext, config: string, webhook = config, isExpected = true) {
  await waitFor(
    `webhook ${webhook} ${isExpected ? 'to rely on' : 'not to rely on'} its policy`,
    async () => {
      const live = await client.get(webhooks, `sidecar-injector-${webhook}`);
      const isHolding = (live.webhooks as { name: string }[]).some((each) => each.name.startsWith(heldPrefix));
      if (isHolding === isExpected) return true;
      throw new Error(JSON.stringify(await conditionOf(client, config, 'HoldUnavailable')));
    },
    { timeout: 90_000 },
  );
  await untilActive(client);
}

/** Builds a pod that looks like the pod of a ReplicaSet, which does not exist. */
export function replaceablePod(namespace: string, name: string, options?: WorkloadOptions): KubernetesObject & Pod {
  const pod = barePod(namespace, name, options);
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `uid-of-${name}`, controller: true },
  ];
  return { ...pod, metadata: { ...pod.metadata, ownerReferences } } as KubernetesObject & Pod;
}
