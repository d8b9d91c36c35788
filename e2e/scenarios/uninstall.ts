import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { labelNames, managedBy } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { ResourceKind } from '../../src/kube/resource-kinds.ts';
import { containersOf } from '../harness/admissions.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { Losses } from '../harness/load/losses.ts';
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
    'the chart goes, in the order of helm, while pods are created: 0 lost, no webhook is left, also when the operator is dead',
  destructive: 'it uninstalls the operator',
  run: async (context) => {
    const alive = await removeUnderLoad(context, 'alive', async (replicas, losses, goOn) => {
      const since = Date.now();
      await uninstallAsHelm(context.client, replicas.installation.objects, async (kind) => {
        // A kubelet ends the pods of a Deployment in order; their rights go after that, for nobody may use any that is gone.
        if (kind === 'RoleBinding')
          await Promise.all(replicas.all.map(({ operator }) => operator.process.stop(30_000)));
      });
      await goOn();
      return losses.checkNone('helm uninstall, the operator alive', since);
    });
    const dead = await removeUnderLoad(context, 'dead', async (replicas, losses, goOn) => {
      const killed = Date.now();
      await Promise.all(replicas.all.map((replica) => replicas.kill(replica)));
      await context.check('the operator is dead: creations are refused, and it is seen', () =>
        losses.report(killed).lost.some(({ kind }) => kind === 'refused'),
      );
      context.say(`lost with every replica down: ${losses.report(killed).lost.length}`);
      await uninstallAsHelm(context.client, replicas.installation.objects, () => Promise.resolve());
      await goOn();
      // An API server takes a moment to learn that a webhook has gone; what it was asked for before that may be refused.
      await Promise.all([untilActive(context.client), untilActive(context.client, { validating: true })]);
      return losses.checkNone('helm uninstall, the operator dead: as soon as the API server knows of it', {
        askedSince: Date.now(),
      });
    });
    return `0 lost of ${alive} pods with the operator alive, of ${dead} after it was dead`;
  },
};

/** Installs, uninstalls by `remove` under load, and looks at what is left; resolves with how many pods were created meanwhile. */
async function removeUnderLoad(
  context: ScenarioContext,
  how: 'alive' | 'dead',
  remove: (replicas: Replicas, losses: Losses, goOn: () => Promise<void>) => Promise<number>,
): Promise<number> {
  const { client } = context;
  const audit = context.requireAudit();
  const replicas = await context.startReplicas({ webhooks: 2, controllers: 1 });
  await applyUntilReady(client, markedConfig(`${name}-${how}`, 'one'));
  await applyTagUntilReady(client, revisionTag(`${how}-tag`, `${name}-${how}`));
  const namespace = await context.namespace(`load-${how}`, { 'istio.io/rev': `${how}-tag` });
  let injected = 0;
  // Plain pods are what is to be had once the webhook has gone; a mixture never is.
  const inspect = (pod: Pod): PodDefect | undefined => {
    if (!isInjected(pod)) return undefined;
    injected += 1;
    return markDefect(pod);
  };
  const load = await context.startLoad({ namespace, inspect });
  const losses = new Losses(context, load, audit);
  await losses.checkNone(`the operator ${how === 'alive' ? 'is' : 'was'} alive`, Date.now());
  await context.check('pods that follow a tag are injected', () => injected >= 20);
  const goOn = async (): Promise<void> => {
    for (const kind of kinds) {
      await context.check(`no ${kind.kind} of ours is left`, async () => (await ours(context, kind)).length === 0);
    }
    await sleep(1000);
  };
  const created = await remove(replicas, losses, goOn);
  await load.stop();
  for (const kind of kinds) {
    await context.checkNow(
      `and none has come back: ${kind.kind}`,
      async () => (await ours(context, kind)).length === 0,
    );
  }
  await context.check('pods start plain', async () => (await containersOf(client, namespace)).length === 1);
  await replicas.stop();
  return created;
}

async function ours({ client }: ScenarioContext, kind: ResourceKind): Promise<unknown[]> {
  return (await client.listAll(kind, { labelSelector: `${labelNames.managedBy}=${managedBy}` })).items;
}

/**
 * The order in which helm removes a release, as far as our chart's kinds go (helm v4 pkg/release/v1/util/kind_sorter.go, UninstallOrder): webhook
 * configurations first, kinds that it does not know last.
 */
const order = [
  ...['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration', 'Service', 'Deployment', 'RoleBinding', 'Role'],
  ...['ClusterRoleBinding', 'ClusterRole', 'ServiceAccount', 'PodDisruptionBudget', 'NetworkPolicy'],
];

/**
 * Deletes a release's objects as `helm uninstall` does: one after the other, in its order, in the background; what is in the chart's `crds` stays.
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
