import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { labelNames, managedBy } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { ResourceKind } from '../../src/kube/resource-kinds.ts';
import { containersOf } from '../harness/admissions.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { lossesOf, type Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { PodDefect } from '../harness/lost-admissions.ts';
import { isInjected, type Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { validatingWebhooks, webhooks } from '../harness/webhook-configurations.ts';

const name = 'uninstall';
const kinds = [webhooks, validatingWebhooks];

export const uninstall: Scenario = {
  name,
  about:
    "while pods are created, the chart is uninstalled in helm's order, once with a running operator and once with a dead operator; no pod is lost and no webhook remains",
  destructive: 'it uninstalls the operator',
  run: async (context) => {
    const alive = await removeUnderLoad(context, 'alive', async (replicas, losses, checkAndWait) => {
      const since = Date.now();
      await uninstallAsHelm(context.client, replicas.installation.objects, async (kind) => {
        // Stop the processes as a kubelet does, before helm removes their rights.
        if (kind === 'RoleBinding')
          await Promise.all(replicas.all.map(({ operator }) => operator.process.stop(30_000)));
      });
      await checkAndWait();
      return losses.checkNone('during helm uninstall with a running operator', since);
    });
    const dead = await removeUnderLoad(context, 'dead', async (replicas, losses, checkAndWait) => {
      const killed = Date.now();
      await Promise.all(replicas.all.map((replica) => replicas.kill(replica)));
      await context.check('negative control: the test detects refused pods while the operator is dead', () =>
        losses.report(killed).lost.some(({ kind }) => kind === 'refused'),
      );
      context.say(`pods lost with every replica down: ${losses.report(killed).lost.length}`);
      await uninstallAsHelm(context.client, replicas.installation.objects, () => Promise.resolve());
      await checkAndWait();
      // The API server may refuse creations until it notices that the webhooks are deleted.
      await Promise.all([untilActive(context.client), untilActive(context.client, { validating: true })]);
      return losses.checkNone('after helm uninstall with a dead operator', { askedSince: Date.now() });
    });
    return `0 of ${alive} pods lost during an uninstall with a running operator, 0 of ${dead} pods lost after an uninstall with a dead operator`;
  },
};

/** Installs the chart, uninstalls it with `remove` under load, and returns the created pods. */
async function removeUnderLoad(
  context: ScenarioContext,
  how: 'alive' | 'dead',
  remove: (replicas: Replicas, losses: Losses, checkAndWait: () => Promise<void>) => Promise<number>,
): Promise<number> {
  const { client } = context;
  const audit = context.requireAudit();
  const replicas = await context.startReplicas({ webhooks: 2, controllers: 1 });
  await applyUntilReady(client, markedConfig(`${name}-${how}`, 'one'));
  await applyTagUntilReady(client, revisionTag(`${how}-tag`, `${name}-${how}`));
  const namespace = await context.namespace(`load-${how}`, { 'istio.io/rev': `${how}-tag` });
  let injected = 0;
  // Pods without a sidecar are expected after the uninstall. Mixed pods are never expected.
  const inspect = (pod: Pod): PodDefect | undefined => {
    if (!isInjected(pod)) return undefined;
    injected += 1;
    return markDefect(pod);
  };
  const load = await context.startLoad({ namespace, inspect });
  const losses = lossesOf(context, load, audit);
  await losses.checkNone('before the uninstall', Date.now());
  await context.check('pods that follow a tag are injected', () => injected >= 20);
  const checkAndWait = async (): Promise<void> => {
    for (const kind of kinds) {
      await context.check(`no ${kind.kind} of ours remains`, async () => (await ours(context, kind)).length === 0);
    }
    await sleep(1000);
  };
  const created = await remove(replicas, losses, checkAndWait);
  await load.stop();
  for (const kind of kinds) {
    await context.checkNow(`no ${kind.kind} of ours is back`, async () => (await ours(context, kind)).length === 0);
  }
  await context.check('pods start without a sidecar', async () => (await containersOf(client, namespace)).length === 1);
  await replicas.stop();
  return created;
}

async function ours({ client }: ScenarioContext, kind: ResourceKind): Promise<unknown[]> {
  return (await client.listAll(kind, { labelSelector: `${labelNames.managedBy}=${managedBy}` })).items;
}

/**
 * The order in which helm v4 deletes the kinds of our chart. Other kinds come last
 * (pkg/release/v1/util/kind_sorter.go, UninstallOrder).
 */
const order = [
  ...['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration', 'Service', 'Deployment', 'RoleBinding', 'Role'],
  ...['ClusterRoleBinding', 'ClusterRole', 'ServiceAccount', 'PodDisruptionBudget', 'NetworkPolicy'],
];

/**
 * Deletes the objects of a release in helm's order, as `helm uninstall` does. Keeps CRDs.
 * @param before called before the first object of a kind is deleted
 */
export async function uninstallAsHelm(
  client: ApiClient,
  objects: readonly KubernetesObject[],
  before: (kind: string) => Promise<void>,
): Promise<void> {
  const rank = ({ kind }: KubernetesObject): number => (order.includes(kind) ? order.indexOf(kind) : order.length);
  const release = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  let last = '';
  for (const object of [...release].sort((one, other) => rank(one) - rank(other) || (one.kind < other.kind ? -1 : 1))) {
    if (object.kind !== last) await before(object.kind);
    last = object.kind;
    await client.delete(object, { propagationPolicy: 'Background' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
