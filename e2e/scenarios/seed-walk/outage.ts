import { dryRun, refusal } from '../../harness/admissions.ts';
import type { AuditEvent } from '../../harness/audit-log.ts';
import { applyUntilReady, smallConfig } from '../../harness/injector-configs.ts';
import { found } from '../../harness/wait-for.ts';
import { lostAdmissions, type LostAdmission } from '../../harness/lost-admissions.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import { readyColumn } from '../../harness/pod-table.ts';
import { isInjected } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, deployment, podsOf, restartDeployment, waitForDeployment } from '../../harness/workloads.ts';

/** The operator is killed: what each failure policy means, who is not affected, and that everything recovers. */
export async function walkOutage(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  const { client } = context;
  await applyUntilReady(client, smallConfig('fails'));
  await applyUntilReady(client, smallConfig('ignores', { failurePolicy: 'Ignore' }));
  const strict = await context.namespace('strict', { 'istio.io/rev': 'fails' });
  const lenient = await context.namespace('lenient', { 'istio.io/rev': 'ignores' });
  const unselected = await context.namespace('unselected');
  for (const namespace of [strict, lenient]) {
    await client.create(deployment(namespace, 'sleep', { replicas: 3 }));
    await waitForDeployment(client, namespace, 'sleep');
  }
  const columns = async (namespace: string) => (await podsOf(client, namespace, 'sleep')).map(readyColumn).join(' ');
  await context.check('before: both namespaces 2/2', async () =>
    found(`${await columns(strict)}, ${await columns(lenient)}`, '2/2 2/2 2/2, 2/2 2/2 2/2'),
  );

  const audit = context.startAudit();
  const killed = new Date();
  await operator.process.kill();
  await context.check(
    'the operator is killed; an unselected namespace does not notice',
    async () => (await refusal(client, barePod(unselected, 'other'))) === undefined,
  );
  await context.check(
    'a selected namespace refuses under Fail, and names the webhook',
    async () => (await refusal(client, barePod(strict, 'strict')))?.includes('failed calling webhook') === true,
  );
  const optOut = { labels: { 'sidecar.istio.io/inject': 'false' } };
  await context.check(
    'a pod that opts out starts there all the same',
    async () => (await refusal(client, barePod(strict, 'opts-out', optOut))) === undefined,
  );
  await context.check(
    'a selected namespace creates plain pods under Ignore',
    async () => (await dryRun(client, barePod(lenient, 'lenient'))).spec.containers.length === 1,
  );

  for (const namespace of [strict, lenient])
    await client.patch(deployment(namespace, 'sleep'), 'merge', { spec: { replicas: 5 } });
  await waitForDeployment(client, lenient, 'sleep');
  await context.check('meanwhile: 2 more pods under Ignore are plain, under Fail they are missing', async () => {
    const plain = (await columns(lenient)).split(' ').filter((column) => column === '1/1').length;
    return found(`${plain} plain, ${await columns(strict)}`, '2 plain, 2/2 2/2 2/2');
  });

  await countLost(context, audit?.events() ?? [], [strict, lenient], killed);

  await operator.restart();
  await context.check(
    'after its restart every ReplicaSet is complete',
    () => waitForDeployment(client, strict, 'sleep', 120_000).then(() => true),
    // Its controller tries again after as long as it had failed before, at the latest.
    { timeout: 120_000 },
  );
  await context.check('and the late pods under Fail are injected', async () =>
    found(await columns(strict), '2/2 2/2 2/2 2/2 2/2'),
  );
  await restartDeployment(client, lenient, 'sleep');
  await context.check('the plain pods are replaced by a restart', async () =>
    found(await columns(lenient), '2/2 2/2 2/2 2/2 2/2'),
  );
}

/** The negative control of every later "0 lost": with the operator dead, both kinds of loss are seen. */
async function countLost(
  context: ScenarioContext,
  events: AuditEvent[],
  namespaces: string[],
  since: Date,
): Promise<void> {
  const pods = (await Promise.all(namespaces.map((namespace) => podsOf(context.client, namespace, 'sleep')))).flat();
  // Timestamps of objects are whole seconds.
  const recent = pods.filter((pod) => Date.parse(pod.metadata.creationTimestamp ?? '') >= since.getTime() - 1000);
  const selected = events.filter((event) => namespaces.includes(event.objectRef?.namespace ?? ''));
  const lost = lostAdmissions(selected, recent, (pod) =>
    isInjected(pod) ? undefined : { kind: 'plain', what: 'stored without our status' },
  );
  const count = (kind: LostAdmission['kind']) => lost.filter((each) => each.kind === kind).length;
  context.say(`lost while the operator was dead: ${count('refused')} refused, ${count('plain')} plain`);
  if (context.cluster.controlPlane === undefined) return;
  await context.checkNow(
    'what was lost is seen: refused under Fail, plain under Ignore',
    () => count('refused') > 0 && count('plain') === 2,
  );
}
