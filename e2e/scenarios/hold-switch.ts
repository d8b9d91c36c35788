import { runInjector, clusterFlags } from '../harness/injector-command.ts';
import { applyObject } from '../harness/apply.ts';
import { startForeignWebhooks } from '../harness/foreign-webhooks.ts';
import { applyUntilReady, checkCondition } from '../harness/injector-configs.ts';
import { checkDeadReplicas, Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none } from '../harness/wait-for.ts';
import { deployment } from '../harness/workloads.ts';
import { gatesOf, hasSidecar, podsIn } from './hold/held-workloads.ts';
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
    const losses = new Losses(context, load, audit);
    await checkDeadReplicas(context, replicas, losses);
    const since = Date.now();
    for (const policy of ['Hold', 'Ignore', 'Hold']) {
      const started = Date.now();
      await applyObject(client, config(policy));
      await untilHolding(context, name, name, policy === 'Hold');
      await losses.checkNone(`while failurePolicy changed to ${policy}`, started);
    }
    await load.stop();
    const { created } = losses.report(since);
    await checkForeignLabels(context);
    await checkDead(context, () => Promise.all(replicas.webhooks.map((each) => replicas.kill(each))));
    context.measured({ created, lost: 0 });
    return `${created} pods were created while failurePolicy changed three times, 0 lost or held; after injector disable, no pod stays held`;
  },
};

/** A pod must be injected, and must not be held while replicas run. */
function defectOf(pod: Pod) {
  const gates = gatesOf(pod);
  return gates.length > 0 ? ({ kind: 'plain', what: `held by ${gates.join()}` } as const) : markDefect(pod);
}

/**
 * Checks pods whose labels a webhook of another product changes after the policy was evaluated. A
 * pod that loses the label is held although no webhook of ours is called: the operator releases it.
 * A pod that gets the label is injected, but cannot be held while no replica runs (docs/hold.md).
 */
async function checkForeignLabels(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('foreign', { 'e2e.sidecar-injector.io/foreign': 'true' });
  const namespaceLabels = { 'e2e.sidecar-injector.io/foreign': 'true' };
  const patch = ({ metadata: { labels = {} } }: Pod): object[] => {
    if (labels['app'] === 'loses') return [{ op: 'remove', path: revisionPointer }];
    return [{ op: 'add', path: revisionPointer, value: name }];
  };
  await startForeignWebhooks(context, [{ name: 'aa-labels', namespaceLabels, patch }]);
  await client.create(deployment(namespace, 'loses', { labels: { 'istio.io/rev': name } }));
  await client.create(deployment(namespace, 'gets'));
  await context.check('a pod that lost the label is released, and starts without a sidecar', async () =>
    (await podsIn(context, namespace)).some(
      (pod) => isOf(pod, 'loses') && pod.spec.nodeName !== undefined && !hasSidecar(pod, 'marked'),
    ),
  );
  await context.check('a pod that got the label is injected', async () =>
    (await podsIn(context, namespace)).some(
      (pod) => isOf(pod, 'gets') && pod.spec.nodeName !== undefined && hasSidecar(pod, 'marked'),
    ),
  );
}

/** Checks `injector disable` while pods are held, and that every kind of pod starts then. */
async function checkDead(context: ScenarioContext, killReplicas: () => Promise<unknown>): Promise<void> {
  const { client, cluster } = context;
  await killReplicas();
  const namespace = await context.namespace('dead', { 'istio.io/rev': name });
  await client.create(deployment(namespace, 'web', { replicas: 5 }));
  await context.check(
    'with every replica dead, pods are held',
    async () => (await podsIn(context, namespace)).filter((pod) => gatesOf(pod).length > 0).length === 5,
  );
  const foreign = 'hold-switch-foreign';
  await client.create(deployment(foreign, 'gets-later'));
  await context.check(
    'documented limit: a pod that gets the label after the policy starts without a sidecar',
    async () =>
      (await podsIn(context, foreign)).some(
        (pod) => isOf(pod, 'gets-later') && pod.spec.nodeName !== undefined && !hasSidecar(pod, 'marked'),
      ),
  );
  await checkCondition(context, name, 'Holding', 'pods wait', /^True \(PodsHeld\) 5 pods wait/);
  const { code, out } = await runInjector(['disable', '--all', ...clusterFlags(cluster)]);
  await context.checkNow('injector disable exits with 0', () => code === 0 || Promise.reject(new Error(out)));
  await context.check('after injector disable, all pods run without a sidecar, and none is held', async () => {
    const found = await podsIn(context, namespace);
    const wrong = found.filter((pod) => gatesOf(pod).length > 0 || pod.spec.nodeName === undefined);
    return found.length === 5 && none(wrong.map(({ metadata }) => metadata.name ?? ''));
  });
}

function isOf(pod: Pod, app: string): boolean {
  return pod.metadata.labels?.['app'] === app;
}
