import { gateOf } from '../../src/api/names.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { runInjector, clusterFlags } from '../harness/injector-command.ts';
import { applyObject } from '../harness/apply.ts';
import { startForeignWebhooks } from '../harness/foreign-webhooks.ts';
import { applyUntilReady, checkCondition } from '../harness/injector-configs.ts';
import { checkDeadReplicas, lossesOf } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { Pod } from '../harness/pod.ts';
import { repeat } from '../harness/repeat.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../harness/service-account.ts';
import { none } from '../harness/wait-for.ts';
import { deletePods, deployment } from '../harness/workloads.ts';
import { gatesOf, hasSidecar, isHeld, objectName, podsIn } from './hold/held-workloads.ts';
import { untilHolding } from './hold/holding.ts';

const name = 'switched';
const revisionPointer = '/metadata/labels/istio.io~1rev';

export const holdSwitch: Scenario = {
  name: 'hold-switch',
  about:
    'failurePolicy changes from Fail to Hold, Ignore, Hold and disabled under load, beside a webhook of another product that changes labels: no pod stays held and none is lost',
  destructive: 'it kills all replicas',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas({}, { operator: { holdPods: true } });
    const config = (failurePolicy: string) => markedConfig(name, 'one', { webhook: { failurePolicy } });
    await applyUntilReady(client, config('Fail'));
    const namespace = await context.namespace('load', { 'istio.io/rev': name });
    const audit = context.requireAudit();
    const load = await context.startLoad({ namespace, perSecond: 20, inspect: defectOf });
    const losses = lossesOf(context, load, audit);
    await checkDeadReplicas(context, replicas, losses);
    const checkChanged = await recreateChanged(context);
    const since = Date.now();
    for (const policy of ['Hold', 'Ignore', 'Hold']) {
      const started = Date.now();
      await applyObject(client, config(policy));
      await untilHolding(context, name, name, policy === 'Hold');
      await losses.checkNone(`while failurePolicy changed to ${policy}`, started);
    }
    await load.stop();
    const { created } = losses.report(since);
    const changed = await checkChanged();
    await checkDead(context, replicas);
    context.measured({ created, changed, lost: 0 });
    return `${created} pods, and ${changed} whose labels another webhook changed, were created while failurePolicy changed three times: 0 lost or held; after disable, and after an uninstallation, no pod stays held`;
  },
};

/** A pod must be injected, and must not be held while replicas run. */
function defectOf(pod: Pod) {
  const gates = gatesOf(pod);
  return gates.length > 0 ? ({ kind: 'plain', what: `held by ${gates.join()}` } as const) : markDefect(pod);
}

/** The milliseconds after which the pods with changed labels are recreated. */
const roundMs = 1500;

/**
 * Recreates pods whose labels a webhook of another product changes after the policy was evaluated.
 * A pod that loses the label is held although no webhook of ours is called: the operator releases
 * it. A pod that gets the label is injected, but cannot be held while no replica runs
 * (docs/hold.md).
 */
async function recreateChanged(context: ScenarioContext) {
  const { client } = context;
  const namespaceLabels = { 'e2e.sidecar-injector.io/foreign': 'true' };
  const namespace = await context.namespace('foreign', namespaceLabels);
  const patch = ({ metadata: { labels = {} } }: Pod): object[] => {
    if (labels['app'] === 'loses') return [{ op: 'remove', path: revisionPointer }];
    return [{ op: 'add', path: revisionPointer, value: name }];
  };
  await startForeignWebhooks(context, [{ name: 'aa-labels', namespaceLabels, patch }]);
  const labels = { 'istio.io/rev': name };
  await client.create(deployment(namespace, 'loses', { replicas: 3, labels }));
  await client.create(deployment(namespace, 'gets', { replicas: 3 }));
  const seen = new Set<string>();
  const bare = new Set<string>();
  const stop = repeat(async (pause) => {
    await pause(roundMs);
    for (const pod of await podsIn(context, namespace)) {
      seen.add(objectName(pod));
      if (isOf(pod, 'gets') && isBare(pod)) bare.add(objectName(pod));
    }
    await deletePods(client, namespace);
  });
  /** Stops, and checks the pods that were seen. Resolves with their number. */
  return async (): Promise<number> => {
    await stop();
    await context.checkNow('each pod that got the label from another webhook was injected', () => none([...bare]));
    await context.check('each pod that lost the label runs, and none is held', async () => {
      const found = await podsIn(context, namespace);
      return found.length === 6 && none(found.filter(isWaiting).map(objectName));
    });
    return seen.size;
  };
}

/** Checks commands while pods are held: `disable`, and the commands of an uninstallation. */
async function checkDead(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { client, cluster } = context;
  const injector = async (kubeconfig: string | undefined, ...argv: string[]): Promise<void> => {
    const flags = kubeconfig === undefined ? clusterFlags(cluster) : ['--kubeconfig', kubeconfig];
    await context.check(`injector ${argv.join(' ')} exits with 0`, async () => {
      const { code, out, errors } = await runInjector([...argv, ...flags]);
      return code === 0 || Promise.reject(new Error(out + errors));
    });
  };
  const namespace = await context.namespace('dead', { 'istio.io/rev': name });
  const held = async (workload: string): Promise<void> => {
    await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
    await client.create(deployment(namespace, workload, { replicas: 5 }));
    await context.check(`with every replica dead, pods of ${workload} are held`, async () => {
      return (await heldPods(workload)).length === 5;
    });
  };
  const podsWith = async (app: string) => (await podsIn(context, namespace)).filter((pod) => isOf(pod, app));
  const heldPods = async (app: string) => (await podsWith(app)).filter(isHeld);
  const isReleased = (workload: string, when: string): Promise<true> =>
    context.check(`${when}, all pods of ${workload} run without a sidecar, and none is held`, async () => {
      const found = await podsWith(workload);
      return found.length === 5 && none(found.filter(isWaiting).map(objectName));
    });
  await held('first');
  await checkLateLabel(context);
  await checkCondition(context, name, 'Holding', 'pods wait', /^True \(PodsHeld\) 5 pods wait/);
  await injector(undefined, 'disable', '--all');
  await isReleased('first', 'after injector disable');

  for (const { operator } of replicas.webhooks) await operator.restart();
  await replicas.waitUntilServing();
  await injector(undefined, 'enable', '--all');
  await untilHolding(context, name);
  await held('second');
  const { owner = '', namespace: system, workloads } = replicas.installation;
  const account = workloads.find(({ role }) => role === 'controller')?.account ?? '';
  // The chart's pre-delete hook runs this command with this ServiceAccount.
  const kubeconfig = await serviceAccountKubeconfig(cluster, system, account, undefined);
  await injector(kubeconfig, 'release', '--owner', owner);
  await isReleased('second', "after the command of the chart's hook");
  // Their pods end in an uninstallation.
  await Promise.all(replicas.controllers.map((each) => replicas.kill(each)));
  const schedulingGates = [{ name: gateOf(`sidecar-injector-${name}`) }];
  await client.create(deployment(namespace, 'third', { replicas: 5, spec: { schedulingGates } }));
  await context.check('after `helm uninstall --no-hooks`, pods may be left that are held', async () => {
    return (await heldPods('third')).length === 5;
  });
  await injector(undefined, 'release', '--all');
  await isReleased('third', 'after injector release');
  await injector(undefined, 'uninstall', '--yes', '--timeout', '5');
  await context.check('after injector uninstall, no policy is left', async () => {
    const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy');
    return none((await client.listAll(kind)).items.map(objectName));
  });
}

/** Checks what cannot be held (docs/hold.md): a pod that gets our label after the policy. */
async function checkLateLabel(context: ScenarioContext): Promise<void> {
  const foreign = 'hold-switch-foreign';
  await context.client.create(deployment(foreign, 'gets-later'));
  await context.check('known limit: a pod that gets the label after the policy starts without a sidecar', async () =>
    (await podsIn(context, foreign)).some((pod) => isOf(pod, 'gets-later') && isBare(pod)),
  );
}

function isWaiting(pod: Pod): boolean {
  return isHeld(pod) || pod.spec.nodeName === undefined;
}

function isBare(pod: Pod): boolean {
  return pod.spec.nodeName !== undefined && !hasSidecar(pod, 'marked');
}

function isOf(pod: Pod, app: string): boolean {
  return pod.metadata.labels?.['app'] === app;
}
