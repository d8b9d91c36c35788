import { replacingAnnotation } from '../../src/api/names.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { AuditEvent } from '../harness/audit-log.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { deployment } from '../harness/workloads.ts';
import { gatesOf, hasFailed, hasSidecar, job, jobs, podsIn } from './hold/held-workloads.ts';
import { untilHolding } from './hold/holding.ts';

const name = 'survivor';

export const holdKilled: Scenario = {
  name: 'hold-killed',
  about:
    'the leader is killed after each write of a recovery from failurePolicy Hold: every held pod gets its sidecar, no pod is deleted twice, no Job fails, and no separated pod is left',
  destructive: 'it kills the operator',
  full: 'recoveries with four pods, killed after each of their six writes, 90 s',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas(
      { proxied: true, flags: [shortLeases] },
      { operator: { holdPods: true } },
    );
    await applyUntilReady(client, smallConfig(name, { failurePolicy: 'Hold' }));
    await untilHolding(context, name);
    const namespace = await context.namespace('pods', { 'istio.io/rev': name });
    const audit = context.requireAudit();
    const kills: string[] = [];
    // The pods per workload. A recovery has one write for each pod of a Deployment, and two for
    // each pod of a Job.
    const pods = context.size === 'full' ? 2 : 1;
    for (let position = 1; position <= 3 * pods; position += 1) {
      kills.push(await killAfterWrite(context, replicas, namespace, pods, position));
    }
    const events = audit.events().filter(({ objectRef }) => objectRef?.namespace === namespace);
    await context.checkNow(`none of the pods that ${kills.length} recoveries replaced was deleted twice`, () =>
      none(deletedTwice(events)),
    );
    context.measured({ kills: kills.length, writes: kills });
    return `${kills.length} leaders were killed after a write of a recovery (${kills.join(', ')}): all pods were injected, none was lost or deleted twice`;
  },
};

/** Lets pods be held, and kills the leader after a write of the recovery; returns the write. */
async function killAfterWrite(
  context: ScenarioContext,
  replicas: Replicas,
  namespace: string,
  pods: number,
  position: number,
): Promise<string> {
  const { client } = context;
  const leader = await replicas.waitForLeader();
  for (const replica of replicas.webhooks) await replicas.kill(replica);
  await client.create(deployment(namespace, `web-${position}`, { replicas: pods }));
  await client.create(job(namespace, `job-${position}`, pods, { backoffLimit: 0 }).object);
  const count = async (): Promise<number> =>
    (await podsIn(context, namespace)).filter((pod) => gatesOf(pod).length > 0).length;
  await waitFor('the pods to be held', async () => (await count()) === 2 * pods);
  if (position === 1)
    await context.checkNow('negative control: before the recovery, pods are held', async () => (await count()) > 0);
  const match = { client: leader.name, verbs: ['patch', 'delete'], resources: ['pods'] };
  const held = await replicas.proxy.holdWrite(match, position);
  for (const { operator } of replicas.webhooks) await operator.restart();
  await replicas.waitUntilServing();
  const write = await held.reached;
  await replicas.kill(leader);
  await held.release();
  const what = `write ${position}: ${write.verb}`;
  await context.check(
    `the leader was killed after write ${position} (${write.verb}): every pod has its sidecar, and none is held`,
    async () => {
      const found = await podsIn(context, namespace);
      const wrong = found.filter((pod) => gatesOf(pod).length > 0 || !hasSidecar(pod, name));
      return none(wrong.map(({ metadata }) => metadata.name ?? ''));
    },
    { timeout: 120_000 },
  );
  await context.check(`write ${position}: the Deployment and the Job are complete`, async () => {
    const found = await client.get(jobs, `job-${position}`, { namespace });
    if (hasFailed(found)) throw new Error('the Job has counted a failed pod');
    const web = await client.get(resourceKind('apps/v1', 'Deployment'), `web-${position}`, { namespace });
    const { succeeded } = (found.status ?? {}) as { succeeded?: number };
    const { readyReplicas } = (web.status ?? {}) as { readyReplicas?: number };
    return succeeded === pods && readyReplicas === pods;
  });
  await context.checkNow(`write ${position}: no pod that was separated from its Job is left`, async () => {
    const left = (await podsIn(context, namespace)).filter((pod) => pod.metadata.annotations?.[replacingAnnotation]);
    return none(left.map(({ metadata }) => metadata.name ?? ''));
  });
  await leader.operator.restart();
  await replicas.waitForLeader();
  return what;
}

/** Returns the names of pods that were deleted more than once with success. */
function deletedTwice(events: readonly AuditEvent[]): string[] {
  const deleted = events
    .filter(({ verb, objectRef }) => verb === 'delete' && objectRef?.resource === 'pods')
    .filter(({ responseStatus }) => responseStatus?.code === 200)
    .map(({ objectRef }) => objectRef?.name ?? '');
  return deleted.filter((each, index) => deleted.indexOf(each) !== index);
}
