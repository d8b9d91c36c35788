import { applyObject } from '../../harness/apply.ts';
import { dryRun } from '../../harness/admissions.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { exampleConfig, waitForCondition } from '../../harness/injector-configs.ts';
import { podTable, readyColumn } from '../../harness/pod-table.ts';
import { isInjected } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import {
  barePod,
  deployment,
  labelNamespace,
  podsOf,
  restartDeployment,
  waitForDeployment,
} from '../../harness/workloads.ts';

/** The first thing anybody tries: label a namespace, restart a Deployment, see 2/2; take the label away again. */
export async function walkBasics(context: ScenarioContext): Promise<{ ready: number; firstPod: number }> {
  const { client } = context;
  const labelled = await context.namespace('labelled', { 'istio-injection': 'enabled' });
  const namespace = await context.namespace('sleep');
  await client.create(deployment(namespace, 'sleep'));
  await waitForDeployment(client, namespace, 'sleep');
  const columns = async () => (await podsOf(client, namespace, 'sleep')).map(readyColumn).join(' ');

  const applied = Date.now();
  await applyObject(client, exampleConfig('hello.yaml'));
  const since = () => Date.now() - applied;
  const [firstPod, ready] = await Promise.all([
    waitFor(
      'a first injected pod',
      async () => isInjected(await dryRun(client, barePod(labelled, 'first'))) && since(),
      { interval: 10 },
    ),
    waitForCondition(client, 'default', 'Ready', 'True').then(since),
  ]);
  await context.check('an applied InjectorConfig is Ready', () => true);

  await labelNamespace(client, namespace, { 'istio-injection': 'enabled' });
  await context.check('a label on the namespace leaves running pods as they are: 1/1', async () =>
    found(await columns(), '1/1'),
  );
  const before = podTable(await podsOf(client, namespace), new Date());
  await restartDeployment(client, namespace, 'sleep');
  await context.check('after a restart the Deployment has 2/2', async () => found(await columns(), '2/2'));
  context.say(`${before}\n${podTable(await podsOf(client, namespace), new Date())}`.replaceAll('\n', '\n      '));

  await labelNamespace(client, namespace, { 'istio-injection': null });
  await client.patch(deployment(namespace, 'sleep'), 'merge', { spec: { replicas: 2 } });
  await waitForDeployment(client, namespace, 'sleep');
  await context.check('without the label new pods are 1/1 and old ones stay 2/2', async () => {
    const pods = await podsOf(client, namespace, 'sleep');
    return found(pods.map(readyColumn).sort().join(' '), '1/1 2/2');
  });
  return { ready, firstPod };
}
