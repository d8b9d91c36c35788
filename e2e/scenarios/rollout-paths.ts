import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { readReplicaLease } from '../../src/operator/replicas/replica-lease.ts';
import { addShadowReports, emptyShadowReport, isOfPair, type ShadowReport } from '../../src/rollout/shadow-report.ts';
import { formatRoute, type RolloutRoute } from '../../src/routing/route.ts';
import { everyWorkload, noWorkload, rankOf } from '../../src/routing/workload-key.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyObject, isTrue } from '../harness/apply.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig, marksOf } from '../harness/load/marked-config.ts';
import type { Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { webhookNamed, webhookOf } from '../harness/webhook-configurations.ts';
import { barePod, deployment, podsOf } from '../harness/workloads.ts';
import { brokenConfig } from './canary/failing-config.ts';

const ours = 'rollout-paths-e2e';
const tag = 'prod';
const workloads = Array.from({ length: 20 }, (_, index) => `web-${index}`);

export const rolloutPaths: Scenario = {
  name: 'rollout-paths',
  about:
    'the path of the webhook alone decides which workloads get the canary, and the share is exact; in a shadow step, no workload gets the canary, and replicas report how the results differ',
  run: async (context) => {
    const { client } = context;
    await context.startReplicas({ webhooks: 2, controllers: 1 });
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, markedConfig('v2', 'two', {}, 'crash'));
    await applyUntilReady(client, brokenConfig('v3', 'three'));
    const namespace = await context.namespace('shop');
    try {
      const publish = publisherFor(context, namespace);
      await checkShares(context, publish, namespace);
      await checkShadow(context, publish, namespace);
    } finally {
      await client.delete(webhookNamed(ours));
    }
    return 'exactly 5, 10 and 20 of 20 workloads got the canary; in a shadow step no workload did, and the report named the error of a broken canary';
  },
};

/** Writes a webhook path with v1 and a canary. Returns the route when the path is active. */
type Publish = (canary: string, threshold: string, shadow?: boolean) => Promise<RolloutRoute>;

/** Returns a function that uses the Service and CA bundle of v1's webhook. v1 is stable. */
function publisherFor(context: ScenarioContext, namespace: string): Publish {
  const { client } = context;
  const clientConfigOf = async (name: string) => (await webhookOf(client, name)).webhooks[0]?.clientConfig;
  const refOf = async (name: string) => {
    const hash = (await clientConfigOf(name))?.service?.path.split('/')[3] ?? '';
    return { injectorConfig: name, hash };
  };
  return async (canaryName, threshold, shadow = false) => {
    const [stable, canary] = [await refOf('v1'), await refOf(canaryName)];
    const route: RolloutRoute = { tag, stable, canary, threshold, shadow };
    const path = formatRoute(route);
    const clientConfig = await clientConfigOf('v1');
    const webhook = {
      name: 'rollout.example.com',
      clientConfig: { ...clientConfig, service: { ...clientConfig?.service, path } },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
    };
    await applyObject(client, { ...webhookNamed(ours), webhooks: [webhook] });
    // Dry-run one pod on each side of the threshold.
    for (const { injectorConfig } of [canary, stable]) {
      const isCanary = injectorConfig === canaryName;
      const name = nameOnSide(namespace, shadow ? noWorkload : threshold, isCanary);
      if (name === undefined) continue;
      await context.check(`${path} is active for a pod that gets ${isCanary ? 'the canary' : 'stable'}`, async () =>
        found(configurationOf(await dryRun(client, barePod(namespace, name))), injectorConfig),
      );
    }
    return route;
  };
}

/** Returns a name for a bare pod that gets the canary (or stable); undefined if no pod can. */
function nameOnSide(namespace: string, threshold: string, canary: boolean): string | undefined {
  if (threshold === (canary ? noWorkload : everyWorkload)) return undefined;
  const names = Array.from({ length: 1000 }, (_, index) => `probe-${index}`);
  return names.find((name) => rankOf(tag, { namespace, kind: 'Pod', name }) < threshold === canary);
}

/** Returns the InjectorConfig that injected a pod, according to its annotation and marks. */
function configurationOf(pod: Pod): string {
  const { marks, configuration = 'none' } = marksOf(pod);
  const name = configuration.split('.')[0] ?? '';
  const mark = { v1: 'one', v2: 'two' }[name];
  return marks.join() === mark ? name : `${configuration} marked ${marks.join(' and ')}`;
}

async function checkShares(context: ScenarioContext, publish: Publish, namespace: string): Promise<void> {
  const { client } = context;
  const rank = (name: string): string => rankOf(tag, { namespace, kind: 'Deployment', name });
  const ranked = [...workloads].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  await publish('v2', rank(ranked[5] ?? ''));
  for (const name of workloads) await client.create(deployment(namespace, name, { replicas: 2 }));
  await checkPods(context, namespace, 'only the 5 lowest of 20 ranks get the canary', ranked.slice(0, 5));
  await context.check('all canary pods crash, and all other pods are ready', async () => {
    const pods = await podsOf(client, namespace);
    const wrong = pods.filter((pod) => {
      const isReady = isTrue(pod, 'Ready');
      return isReady === (configurationOf(pod) === 'v2') || isCrashing(pod) === isReady;
    });
    return pods.length === 40 && found(wrong.map(({ metadata }) => metadata.name).join(), '');
  });
  await publish('v2', rank(ranked[10] ?? ''));
  await deletePods(context, namespace);
  await checkPods(context, namespace, 'only the 10 lowest of 20 ranks get the canary', ranked.slice(0, 10));
  await publish('v2', everyWorkload);
  await deletePods(context, namespace);
  await checkPods(context, namespace, 'at 100 percent, all workloads get the canary', ranked);
}

async function checkShadow(context: ScenarioContext, publish: Publish, namespace: string): Promise<void> {
  const expected: Record<string, (report: ShadowReport) => boolean> = {
    v2: ({ failed, differing, changed }) =>
      failed === 0 && differing > 0 && changed.includes('spec.containers[marked].image'),
    v3: ({ failed, differing, error = '' }) => failed > 0 && differing === 0 && /this canary is broken/.test(error),
  };
  for (const [canary, isExpected] of Object.entries(expected)) {
    const rollout = await publish(canary, noWorkload, true);
    await deletePods(context, namespace);
    await checkPods(context, namespace, `in a shadow step with ${canary}, no workload gets the canary`, []);
    const report = await context.check(`replicas report how the result of ${canary} differs from stable`, async () => {
      const report = await reportOf(context, rollout);
      return isExpected(report) && report.compared >= 20 && report;
    });
    context.say(JSON.stringify(report));
  }
}

async function reportOf({ client }: ScenarioContext, rollout: RolloutRoute): Promise<ShadowReport> {
  const { items } = await client.listAll(resourceKind('coordination.k8s.io/v1', 'Lease'));
  return items
    .flatMap((lease: KubernetesObject) => readReplicaLease(lease).shadow ?? [])
    .filter((report) => isOfPair(report, rollout))
    .reduce<ShadowReport>(addShadowReports, emptyShadowReport);
}

async function deletePods({ client }: ScenarioContext, namespace: string): Promise<void> {
  for (const pod of await podsOf(client, namespace)) {
    // Skip pods of the previous round that the fake kubelets are still terminating.
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    await client.delete(pod).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

async function checkPods(context: ScenarioContext, namespace: string, statement: string, canaries: readonly string[]) {
  await context.check(statement, async () => {
    const pods = (await podsOf(context.client, namespace)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    const wrong = pods.filter((pod) => {
      const name = pod.metadata.labels?.['app'] ?? '';
      return configurationOf(pod) !== (canaries.includes(name) ? 'v2' : 'v1');
    });
    const text = wrong.map((pod) => `${pod.metadata.name ?? ''} has ${configurationOf(pod)}`).join();
    return pods.length === 2 * workloads.length && found(text, '');
  });
}

function isCrashing({ status }: Pod): boolean {
  return status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff') === true;
}
