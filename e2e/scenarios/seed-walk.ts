import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { labelNames } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { containersOf, dryRun, refusal } from '../harness/admissions.ts';
import { applyObject, isGone } from '../harness/apply.ts';
import { describeEvent, type AuditEvent } from '../harness/audit-log.ts';
import {
  applyUntilReady,
  deleteForced,
  exampleConfig,
  injectorConfigs,
  smallConfig,
  waitForCondition,
} from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import { refusedCreations } from '../harness/lost-admissions.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { podTable, readyColumn } from '../harness/pod-table.ts';
import { isInjected } from '../harness/pod.ts';
import { repeat } from '../harness/repeat.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { webhooks } from '../harness/webhook-configurations.ts';
import {
  barePod,
  createDeployment,
  deployment,
  labelNamespace,
  podsOf,
  restartDeployment,
  waitForDeployment,
} from '../harness/workloads.ts';
import { walkRevisions } from './seed-walk/revisions.ts';
import { walkSelection } from './seed-walk/selection.ts';

/** Checks that an idle operator writes nothing, so that no loop repairs its own writes. */
async function checkIdle(context: ScenarioContext, installation: Installation): Promise<void> {
  const earlier = context.startAudit();
  if (earlier === undefined) return;
  // Pending work ends at some point. An operator that repairs its own writes never becomes idle.
  let [settledAt, before] = [Date.now(), 0];
  await waitFor('the operator to become idle', () => {
    const writes = earlier.writesBy(installation.username, false).length;
    if (writes > before) [settledAt, before] = [Date.now(), writes];
    return Date.now() - settledAt >= 1000;
  });
  const audit = context.startAudit();
  if (audit === undefined) return;
  await sleep(2000);
  // The operator may write usage statistics once, up to half a minute after the pods changed.
  const counted = new Set<string>();
  const isCount = ({ objectRef }: AuditEvent): boolean => {
    const { resource, subresource, name = '' } = objectRef ?? {};
    const isStatus = resource === 'injectorconfigs' && subresource === 'status';
    return isStatus && !counted.has(name) && counted.add(name).has(name);
  };
  const writes = audit
    .writesBy(installation.username, false)
    .filter((event) => !isCount(event))
    .map(describeEvent);
  await context.checkNow('an idle operator writes nothing but its Lease', () => found(writes.join('; '), ''));
}

export const seedWalk: Scenario = {
  name: 'seed-walk',
  core: true,
  about: 'the main use cases work: labels, policy, opt-out, revisions, dry run, url, deletion, and a killed operator',
  destructive:
    'it installs the default revision, which selects every namespace labelled istio-injection=enabled, and kills the operator',
  run: async (context) => {
    const installation = await context.install();
    const operator = await installation.startOperator();
    const times = await walkBasics(context);
    await checkIdle(context, installation);
    await walkSelection(context, operator);
    await walkRevisions(context, operator);
    await walkDeletion(context, installation);
    await walkOutage(context, operator);
    const memory = operator.residentMemory();
    return `Ready ${times.ready} ms after apply, first pod injected ${times.firstPod} ms after apply, operator RSS ${memory} MiB`;
  },
};

/** Returns the READY columns of a namespace's pods, oldest first: `2/2 1/1`. */
async function columnsOf(client: ApiClient, namespace: string): Promise<string> {
  return (await podsOf(client, namespace, 'sleep')).map(readyColumn).join(' ');
}

/** Takes a user's first steps: labels a namespace, restarts a Deployment, removes the label. */
async function walkBasics(context: ScenarioContext): Promise<{ ready: number; firstPod: number }> {
  const { client } = context;
  const labelled = await context.namespace('labelled', { 'istio-injection': 'enabled' });
  const namespace = await context.namespace('sleep');
  await createDeployment(client, namespace, 'sleep');
  const columns = () => columnsOf(client, namespace);

  const applied = Date.now();
  await applyObject(client, exampleConfig('hello.yaml'));
  const since = () => Date.now() - applied;
  const whenInjected = async () => isInjected(await dryRun(client, barePod(labelled, 'first'))) && since();
  const [firstPod, ready] = await Promise.all([
    waitFor('the first injected pod', whenInjected, { interval: 10 }),
    waitForCondition(client, 'default', 'Ready', 'True').then(since),
  ]);
  await context.check('an applied InjectorConfig becomes Ready', () => true);

  await labelNamespace(client, namespace, { 'istio-injection': 'enabled' });
  await context.check('running pods stay 1/1 in a labelled namespace', async () => found(await columns(), '1/1'));
  const before = podTable(await podsOf(client, namespace), new Date());
  await restartDeployment(client, namespace, 'sleep');
  await context.check('after a restart, the pod of the Deployment is 2/2', async () => found(await columns(), '2/2'));
  context.say(`${before}\n${podTable(await podsOf(client, namespace), new Date())}`.replaceAll('\n', '\n      '));

  await labelNamespace(client, namespace, { 'istio-injection': null });
  await client.patch(deployment(namespace, 'sleep'), 'merge', { spec: { replicas: 2 } });
  await waitForDeployment(client, namespace, 'sleep');
  await context.check('after the label is removed, new pods are 1/1 and old pods stay 2/2', async () => {
    const pods = await podsOf(client, namespace, 'sleep');
    return found(pods.map(readyColumn).sort().join(' '), '1/1 2/2');
  });
  return { ready, firstPod };
}

const name = 'passing';
const producedKinds = [webhooks, ...['Secret', 'Service', 'ConfigMap'].map((kind) => resourceKind('v1', kind))];

/** Deletes an InjectorConfig. Webhooks are deleted first, pods remain, and no pod is refused. */
async function walkDeletion(context: ScenarioContext, installation: Installation): Promise<void> {
  const { client } = context;
  const config = await applyUntilReady(client, smallConfig(name));
  const namespace = await context.namespace('deletion', { 'istio.io/rev': name });
  await createDeployment(client, namespace, 'sleep', { replicas: 2 });
  const columns = () => columnsOf(client, namespace);
  await context.check('before the deletion, all pods are 2/2', async () => found(await columns(), '2/2 2/2'));
  await context.check('the revision has a webhook, a Service, Secrets and ConfigMaps', async () => {
    const kinds = new Set((await produced(context)).map(({ kind }) => kind));
    return kinds.size === producedKinds.length;
  });

  const audit = context.startAudit();
  const creations = createWhile(context, namespace);
  await deleteForced(client, config);
  await context.check('the InjectorConfig is deleted', () => isGone(client, injectorConfigs, name));
  await context.check('no object of the InjectorConfig remains', async () => (await produced(context)).length === 0);
  const { refused, created } = await creations();
  await context.checkNow(`none of ${created} pods was refused during the deletion`, () => refused.length === 0);
  if (audit !== undefined) {
    const deletions = audit
      .writesBy(installation.username)
      .filter((event) => event.verb === 'delete' && event.objectRef?.name?.includes(name) === true)
      .map((event) => event.objectRef?.resource);
    await context.checkNow('the operator deleted the webhooks first', () =>
      found(deletions[0] ?? '', 'mutatingwebhookconfigurations'),
    );
  }
  await context.check('injected pods stay unchanged', async () => found(await columns(), '2/2 2/2'));
  await untilActive(client);
  await restartDeployment(client, namespace, 'sleep');
  await context.check('new pods start without a sidecar', async () => found(await columns(), '1/1 1/1'));
}

async function produced(context: ScenarioContext): Promise<KubernetesObject[]> {
  const labelSelector = `${labelNames.injectorConfig}=${name}`;
  const lists = await Promise.all(producedKinds.map((kind) => context.client.listAll(kind, { labelSelector })));
  return lists.flatMap(({ items }) => items);
}

/** Creates pods one by one until the returned function is called, which returns refused pods. */
function createWhile(context: ScenarioContext, namespace: string) {
  let created = 0;
  const refused: string[] = [];
  const stop = repeat(async (pause) => {
    const message = await refusal(context.client, barePod(namespace, 'meanwhile'));
    created++;
    if (message !== undefined) refused.push(message);
    await pause(2);
  });
  return () => stop().then(() => ({ created, refused }));
}

/** Kills the operator. Checks both failure policies, unselected pods, and the recovery. */
async function walkOutage(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  const { client } = context;
  await applyUntilReady(client, smallConfig('fails'));
  await applyUntilReady(client, smallConfig('ignores', { failurePolicy: 'Ignore' }));
  const strict = await context.namespace('strict', { 'istio.io/rev': 'fails' });
  const lenient = await context.namespace('lenient', { 'istio.io/rev': 'ignores' });
  const unselected = await context.namespace('unselected');
  for (const namespace of [strict, lenient]) await createDeployment(client, namespace, 'sleep', { replicas: 3 });
  const columns = (namespace: string) => columnsOf(client, namespace);
  await context.check('before the outage, pods in both namespaces are 2/2', async () =>
    found(`${await columns(strict)}, ${await columns(lenient)}`, '2/2 2/2 2/2, 2/2 2/2 2/2'),
  );

  const audit = context.startAudit();
  const killed = new Date();
  await operator.process.kill();
  await context.check('while the operator is dead, pods in an unselected namespace are created', async () =>
    found((await refusal(client, barePod(unselected, 'other'))) ?? '', ''),
  );
  await context.check('with failurePolicy Fail, the API server refuses a pod and names the webhook', async () =>
    (await refusal(client, barePod(strict, 'strict')))?.includes('failed calling webhook'),
  );
  const optOut = { labels: { 'sidecar.istio.io/inject': 'false' } };
  await context.check('with failurePolicy Fail, a pod that opts out is created', async () =>
    found((await refusal(client, barePod(strict, 'opts-out', optOut))) ?? '', ''),
  );
  await context.check('with failurePolicy Ignore, a pod is created without a sidecar', async () =>
    found((await containersOf(client, lenient)).join(), 'sleep'),
  );

  for (const namespace of [strict, lenient])
    await client.patch(deployment(namespace, 'sleep'), 'merge', { spec: { replicas: 5 } });
  await waitForDeployment(client, lenient, 'sleep');
  await context.check(
    'during the outage, 2 new pods have no sidecar with Ignore, and 2 new pods are missing with Fail',
    async () => {
      const plain = (await columns(lenient)).split(' ').filter((column) => column === '1/1').length;
      return found(`${plain} plain, ${await columns(strict)}`, '2 plain, 2/2 2/2 2/2');
    },
  );

  await countLost(context, audit?.events() ?? [], [strict, lenient], killed);

  await operator.restart();
  // The ReplicaSet controller backs off for at most the time for which its creations failed.
  const isComplete = () => waitForDeployment(client, strict, 'sleep', 120_000).then(() => true);
  const statement = 'after the operator is restarted, every ReplicaSet is complete';
  await context.check(statement, isComplete, { timeout: 120_000 });
  await context.check('after the restart, the missing pods with failurePolicy Fail exist and are injected', async () =>
    found(await columns(strict), '2/2 2/2 2/2 2/2 2/2'),
  );
  await restartDeployment(client, lenient, 'sleep');
  await context.check('a restart of the Deployment replaces the pods that have no sidecar', async () =>
    found(await columns(lenient), '2/2 2/2 2/2 2/2 2/2'),
  );
}

/** Checks the negative control: while the operator is dead, the test sees both kinds of loss. */
async function countLost(context: ScenarioContext, events: AuditEvent[], namespaces: string[], since: Date) {
  const pods = (await Promise.all(namespaces.map((namespace) => podsOf(context.client, namespace, 'sleep')))).flat();
  // Creation timestamps are whole seconds.
  const recent = pods.filter((pod) => Date.parse(pod.metadata.creationTimestamp ?? '') >= since.getTime() - 1000);
  const selected = events.filter((event) => namespaces.includes(event.objectRef?.namespace ?? ''));
  const refused = refusedCreations(selected).length;
  const plain = recent.filter((pod) => !isInjected(pod)).length;
  context.say(`pods lost while the operator was dead: ${refused} refused, ${plain} without a sidecar`);
  if (context.cluster.controlPlane === undefined) return;
  await context.checkNow(
    'negative control: the test detects refused pods with Fail and pods without a sidecar with Ignore',
    () => refused > 0 && plain === 2,
  );
}
