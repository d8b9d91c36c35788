import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { labelNames } from '../../../src/api/labels.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { refusal } from '../../harness/admissions.ts';
import { untilActive } from '../../harness/until-active.ts';
import { found } from '../../harness/wait-for.ts';
import { applyUntilReady, deleteForced, injectorConfigs, smallConfig } from '../../harness/injector-configs.ts';
import type { Installation } from '../../harness/installation.ts';
import { readyColumn } from '../../harness/pod-table.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, deployment, podsOf, restartDeployment, waitForDeployment } from '../../harness/workloads.ts';

const name = 'passing';
const producedKinds: [apiVersion: string, kind: string][] = [
  ['v1', 'Secret'],
  ['v1', 'Service'],
  ['v1', 'ConfigMap'],
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
];

/** An InjectorConfig goes: webhooks first, pods stay, nothing is left, nobody is refused meanwhile. */
export async function walkDeletion(context: ScenarioContext, installation: Installation): Promise<void> {
  const { client } = context;
  const config = await applyUntilReady(client, smallConfig(name));
  const namespace = await context.namespace('deletion', { 'istio.io/rev': name });
  await client.create(deployment(namespace, 'sleep', { replicas: 2 }));
  await waitForDeployment(client, namespace, 'sleep');
  const columns = async () => (await podsOf(client, namespace, 'sleep')).map(readyColumn).join(' ');
  await context.check('pods of a revision that is about to go: 2/2', async () => found(await columns(), '2/2 2/2'));
  await context.check('the revision has a webhook, a Service, Secrets and ConfigMaps', async () => {
    const kinds = new Set((await produced(context)).map(({ kind }) => kind));
    return kinds.size === producedKinds.length;
  });

  const audit = context.startAudit();
  const creations = createWhile(context, namespace);
  await deleteForced(client, config);
  await context.check(
    'the InjectorConfig is gone',
    async () => (await client.find(injectorConfigs, name)) === undefined,
  );
  await context.check('nothing of it is left', async () => (await produced(context)).length === 0);
  const { refused, created } = await creations();
  await context.checkNow(`no pod was refused meanwhile (0 of ${created})`, () => refused.length === 0);
  if (audit !== undefined) {
    const deletions = audit
      .writesBy(installation.username)
      .filter((event) => event.verb === 'delete' && event.objectRef?.name?.includes(name) === true)
      .map((event) => event.objectRef?.resource);
    await context.checkNow('the webhooks went first', () => deletions[0] === 'mutatingwebhookconfigurations');
  }
  await context.check('injected pods stay as they are', async () => found(await columns(), '2/2 2/2'));
  await untilActive(client);
  await restartDeployment(client, namespace, 'sleep');
  await context.check('new pods start plain', async () => found(await columns(), '1/1 1/1'));
}

/** Objects that carry the InjectorConfig's label. */
async function produced(context: ScenarioContext): Promise<KubernetesObject[]> {
  const lists = await Promise.all(
    producedKinds.map(([apiVersion, kind]) =>
      context.client.listAll(resourceKind(apiVersion, kind), { labelSelector: `${labelNames.injectorConfig}=${name}` }),
    ),
  );
  return lists.flatMap(({ items }) => items);
}

/** Creates pods one after the other until the returned function is called; it tells how many were refused. */
function createWhile(
  context: ScenarioContext,
  namespace: string,
): () => Promise<{ created: number; refused: string[] }> {
  const end = new AbortController();
  let created = 0;
  const refused: string[] = [];
  const loop = (async () => {
    while (!end.signal.aborted) {
      const message = await refusal(context.client, barePod(namespace, 'meanwhile'));
      created++;
      if (message !== undefined) refused.push(message);
      await sleep(2);
    }
  })();
  return async () => {
    end.abort();
    await loop;
    return { created, refused };
  };
}
