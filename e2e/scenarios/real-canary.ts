import { setTimeout } from 'node:timers/promises';
import { dump } from 'js-yaml';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { isReady, type Container } from '../harness/pod.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import { clusterFlags, injectorOutput } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import { agent, call } from '../harness/node/agent.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { deployment, podsOf, waitForDeployment } from '../harness/workloads.ts';
import { waitForRollout } from './canary/workloads.ts';

const name = 'real-canary';
const system = `${name}-system`;
const ready = { readinessProbe: call(15020, '/', { periodSeconds: 1 }) };
const sidecar = (flags: object, more: object = {}): Container =>
  agent({ name: 'pod/sidecar', recorder: '', ...flags }, { securityContext: undefined, ...more });

/** Sidecars that fail, each with what the kubelet says about its container. */
const failures: Record<string, { container: Container; says: RegExp }> = {
  crash: { container: sidecar({ exit: 7 }), says: /last exit code 7 \(Error\)/ },
  absent: { container: sidecar({}, { image: '127.0.0.1:1/absent:1' }), says: /ErrImagePull|ImagePullBackOff/ },
  unready: { container: sidecar({ port: 15020, status: 503 }, ready), says: /not ready/ },
  memory: { container: sidecar({ memory: 300 }), says: /last exit code 137/ },
};

export const realCanary: Scenario = {
  name,
  about:
    'on a real node, a canary whose sidecar crashes, has no image, never gets ready or uses up the memory of the pod is rolled back with the reason of the kubelet; restarts of stale workloads keep the pods that a budget requires',
  destructive: 'it installs the operator as real pods',
  realNode: true,
  run: async (context) => {
    const { client, cluster } = context;
    await context.namespace('system', { 'pod-security.kubernetes.io/enforce': 'restricted' });
    const values = ['mode=all', 'operator.restartWorkloads=true'].flatMap((value) => ['--set', value]);
    await injectorOutput(['install', '-n', system, ...values, ...clusterFlags(cluster)]);
    const configs = { good: sidecar({ port: 15020 }, ready), better: sidecar({ port: 15020 }, ready) };
    const failing = Object.entries(failures).map(([revision, { container }]) => [revision, container] as const);
    for (const [revision, container] of [...Object.entries(configs), ...failing])
      await applyUntilReady(client, configOf(revision, container));
    const cases = Object.entries(failures).map(async ([revision, { says }]) => checkRollback(context, revision, says));
    const [seconds] = await Promise.all([Promise.all(cases), checkPromotion(context), checkRestarts(context)]);
    return `rolled back after ${seconds.join(', ')} s`;
  },
};

function configOf(revision: string, container: Container) {
  return injectorConfig(revision, {
    injection: { templates: { sidecar: dump({ spec: { containers: [container] } }) } },
  });
}

/** Builds a Deployment with the agent, whose pods have little memory together. */
function workload(namespace: string, app: string, replicas: number): KubernetesObject {
  const container = agent({ name: 'pod/app', recorder: '', port: 8080 }, { securityContext: undefined });
  const resources = { limits: { memory: '128Mi' } };
  const spec = { containers: [container], resources, terminationGracePeriodSeconds: 5 };
  const made = deployment(namespace, app, { replicas, spec });
  // A sidecar that crashes is ready for a moment, for which the old pod must not be given up.
  return { ...made, spec: { ...(made['spec'] as object), minReadySeconds: 5 } };
}

/** Moves a tag from revision `good` to another one, and restarts its only workload. */
async function roll(context: ScenarioContext, revision: string, minReadySeconds: number) {
  const { client } = context;
  const tag = `tag-${revision}`;
  await applyTagUntilReady(client, revisionTag(tag, 'good'));
  const namespace = await context.namespace(revision, { 'istio.io/rev': tag });
  await client.create(workload(namespace, 'web', 1));
  await waitForDeployment(client, namespace, 'web');
  const analysis = { minimumPods: 1, minReadySeconds, readyTimeout: '15s', maximumRestarts: 0 };
  const strategy = { canary: { steps: [{ weight: 100 }], analysis } };
  await applyObject(client, revisionTag(tag, revision, { strategy }));
  await waitForRollout(context, tag, 'waiting for pods', ({ phase }) => phase === 'WaitingForPods');
  const template = { metadata: { annotations: { restarted: 'yes' } } };
  await client.patch(objectOf('apps/v1', 'Deployment', 'web', namespace), 'merge', { spec: { template } });
  return { tag, namespace };
}

/** Checks that a failing canary is rolled back. Returns the seconds from its first pod. */
async function checkRollback(context: ScenarioContext, revision: string, says: RegExp): Promise<number> {
  const { tag, namespace } = await roll(context, revision, 30);
  const from = Date.now();
  const state = await context.check(`${revision}: the canary is rolled back`, () =>
    waitForRollout(context, tag, 'rolled back', ({ phase }) => phase === 'RolledBack', 100_000),
  );
  const message = JSON.stringify(state);
  await context.checkNow(`${revision}: the message names pod, container and the reason of the kubelet`, () => {
    if (/pod \S+\/web-\S+, container sidecar/.test(message) && says.test(message)) return true;
    throw new Error(message);
  });
  await context.checkNow(`${revision}: the pod with the stable sidecar still runs`, async () => {
    return (await podsOf(context.client, namespace, 'web')).some(isReady);
  });
  return Math.round((Date.now() - from) / 1000);
}

async function checkPromotion(context: ScenarioContext): Promise<void> {
  const { tag } = await roll(context, 'better', 1);
  await context.check('negative control: a sidecar that works is promoted', () =>
    waitForRollout(context, tag, 'promoted', ({ phase }) => phase === 'Promoted'),
  );
}

/** Checks that restarts of stale workloads never leave fewer pods than their budget requires. */
async function checkRestarts(context: ScenarioContext): Promise<void> {
  const { client } = context;
  await applyTagUntilReady(client, revisionTag('steady', 'good'));
  const namespace = await context.namespace('steady', { 'istio.io/rev': 'steady' });
  await client.create(workload(namespace, 'web', 3));
  const selector = { matchLabels: { app: 'web' } };
  await client.create({
    ...objectOf('policy/v1', 'PodDisruptionBudget', 'web', namespace),
    spec: { minAvailable: 2, selector },
  } as never);
  await waitForDeployment(client, namespace, 'web');
  const available = async () => (await podsOf(client, namespace, 'web')).filter(isReady).length;
  let isOver = false;
  const watch = async (): Promise<number> => {
    let fewest = 3;
    while (!isOver) {
      fewest = Math.min(fewest, await available());
      await setTimeout(200);
    }
    return fewest;
  };
  const watching = watch();
  // The last request must end before the control plane stops, also if a check fails first.
  const ended = Promise.allSettled([watching]);
  context.atEnd(() => {
    isOver = true;
    return ended;
  });
  await applyObject(client, revisionTag('steady', 'better', { strategy: { restart: { minReadySeconds: 1 } } }));
  await context.check(
    'restarts: all stale pods are replaced',
    async () => {
      const pods = await podsOf(client, namespace, 'web');
      return pods.length === 3 && pods.every(({ metadata }) => JSON.stringify(metadata.annotations).includes('better'));
    },
    { timeout: 120_000 },
  );
  isOver = true;
  const fewest = await watching;
  await context.checkNow('restarts: no pod that the workload needs was away', () => found(String(fewest), '3'));
}
