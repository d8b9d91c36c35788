import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import { PodSightings } from './pod-sightings.ts';

/**
 * The negative control of "0 pods lost": with every webhook replica dead a pod that follows the tag is refused, which the same count sees. All are back when
 * this resolves.
 */
export async function checkLossSeen(context: ScenarioContext, replicas: Replicas, tag: string): Promise<void> {
  const { client } = context;
  const audit = context.requireAudit();
  // Nothing is ever stored there, so no share has to count a workload more.
  const namespace = await context.namespace('refused', { 'istio.io/rev': tag });
  const pods = new PodSightings(client, audit, namespace);
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  await replicas.balancer.waitForRotation([]);
  await client.create(barePod(namespace, 'refused')).catch(() => undefined);
  await context.check('negative control: with every webhook replica dead a pod is lost, and it is seen', () => {
    return pods.lost().lost.length === 1;
  });
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
}
