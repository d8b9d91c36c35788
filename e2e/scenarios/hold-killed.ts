import { replacingAnnotation } from '../../src/api/names.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { AuditEvent } from '../harness/audit-log.ts';
import { isBetaOfPolicies } from '../harness/control-plane-commands.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { LeaderKiller } from '../harness/replicas/leader-killer.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { deployment } from '../harness/workloads.ts';
import { hasFailed, hasSidecar, isHeld, job, jobs, objectName, podsIn } from './hold/held-workloads.ts';
import { untilHolding } from './hold/holding.ts';

const name = 'survivor';
const policies = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'];
/** The operator sees the API server of 1.35, which serves only v1beta1 of the policies. */
const onlyBeta = { match: { resources: policies, versions: ['v1'] }, action: { kind: 'answer', status: 404 } } as const;

export const holdKilled: Scenario = {
  name: 'hold-killed',
  about:
    'the leader is killed after each kind of write of a recovery from failurePolicy Hold: every held pod gets its sidecar, no pod is deleted twice, no Job fails, and no separated pod is left',
  destructive: 'it kills the operator',
  full: 'recoveries with four pods, killed after each of their six writes, 90 s',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas(
      { proxied: true, flags: [shortLeases], faults: isBetaOfPolicies ? [onlyBeta] : [] },
      { operator: { holdPods: true } },
    );
    await applyUntilReady(client, smallConfig(name, { failurePolicy: 'Hold' }));
    await untilHolding(context, name);
    const written = (await replicas.proxy.writes()).filter(({ resource }) => policies.includes(resource));
    const version = isBetaOfPolicies ? 'v1beta1' : 'v1';
    await context.checkNow(
      'the operator wrote its policies in the version that is served',
      () => written.length > 0 && none(written.filter((each) => each.version !== version).map((each) => each.version)),
    );
    const namespace = await context.namespace('pods', { 'istio.io/rev': name });
    const audit = context.requireAudit();
    const kills: string[] = [];
    // The pods per workload. A recovery has one write for each pod of a Deployment, and two for
    // each pod of a Job. In the short size, one recovery has a kill after each verb.
    const [pods, recoveries] = context.size === 'full' ? [2, 6] : [1, 1];
    const verbs = new Set(['patch', 'delete']);
    for (let number = 1; number <= recoveries; number += 1) {
      let writes = 0;
      const isFatal = (verb: string) => (context.size === 'full' ? (writes += 1) === number : verbs.delete(verb));
      kills.push(...(await recover(context, replicas, { namespace, pods, isFatal, number })));
    }
    await context.checkNow(`${kills.length} leaders were killed`, () => kills.length === Math.max(2, recoveries));
    const events = audit.events().filter(({ objectRef }) => objectRef?.namespace === namespace);
    await context.checkNow(`of the pods that were replaced with ${kills.length} kills, none was deleted twice`, () =>
      none(deletedTwice(events)),
    );
    context.measured({ kills: kills.length, writes: kills });
    return `${kills.length} leaders were killed after a write of a recovery (${kills.join(', ')}): all pods were injected, none was lost or deleted twice`;
  },
};

interface Recovery {
  readonly namespace: string;
  /** The pods per workload. */
  readonly pods: number;
  readonly number: number;
  readonly isFatal: (verb: string) => boolean;
}

/** Lets pods be held, and kills the leader after writes of the recovery. Returns their verbs. */
async function recover(
  context: ScenarioContext,
  replicas: Replicas,
  { namespace, pods, isFatal, number }: Recovery,
): Promise<string[]> {
  const { client } = context;
  await replicas.waitForLeader();
  for (const replica of replicas.webhooks) await replicas.kill(replica);
  await client.create(deployment(namespace, `web-${number}`, { replicas: pods }));
  await client.create(job(namespace, `job-${number}`, pods, { backoffLimit: 0 }).object);
  const count = async () => (await podsIn(context, namespace)).filter(isHeld).length;
  await waitFor('the pods to be held', async () => (await count()) === 2 * pods);
  if (number === 1)
    await context.checkNow('negative control: before the recovery, pods are held', async () => (await count()) > 0);
  const killed: string[] = [];
  const match = { verbs: ['patch', 'delete'], resources: ['pods'] };
  const killer = await LeaderKiller.start(replicas, {
    match,
    isFatal: ({ verb }) => isFatal(verb) && killed.push(verb) > 0,
  });
  for (const { operator } of replicas.webhooks) await operator.restart();
  await replicas.waitUntilServing();
  const areInjected = async () => {
    const wrong = (await podsIn(context, namespace)).filter((pod) => isHeld(pod) || !hasSidecar(pod, name));
    return killed.length > 0 && none(wrong.map(objectName));
  };
  const statement = 'the leader was killed: every pod has its sidecar, and none is held';
  await context.check(statement, areInjected, { timeout: 120_000 });
  await killer.end();
  const what = `killed after write ${number} (${killed.join(', ')})`;
  await context.check(`${what}: the Deployment and the Job are complete`, async () => {
    const found = await client.get(jobs, `job-${number}`, { namespace });
    if (hasFailed(found)) throw new Error('the Job has counted a failed pod');
    const web = await client.get(resourceKind('apps/v1', 'Deployment'), `web-${number}`, { namespace });
    const { succeeded } = (found.status ?? {}) as { succeeded?: number };
    const { readyReplicas } = (web.status ?? {}) as { readyReplicas?: number };
    return succeeded === pods && readyReplicas === pods;
  });
  await context.checkNow(`${what}: no pod that was separated from its Job is left`, async () => {
    const left = (await podsIn(context, namespace)).filter((pod) => pod.metadata.annotations?.[replacingAnnotation]);
    return none(left.map(objectName));
  });
  await replicas.waitForLeader();
  return killed;
}

/** Returns the names of pods that were deleted more than once with success. */
function deletedTwice(events: readonly AuditEvent[]): string[] {
  const deleted = events
    .filter(({ verb, objectRef }) => verb === 'delete' && objectRef?.resource === 'pods')
    .filter(({ responseStatus }) => responseStatus?.code === 200)
    .map(({ objectRef }) => objectRef?.name ?? '');
  return deleted.filter((each, index) => deleted.indexOf(each) !== index);
}
