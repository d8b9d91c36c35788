import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { isGone, objectOf } from '../harness/apply.ts';
import { findHelm } from '../harness/build.ts';
import { clusterFlags, injectorOutput } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import type { AddressPlan } from '../harness/node/address-plan.ts';
import { agent, call } from '../harness/node/agent.ts';
import { agentImage } from '../harness/node/images.ts';
import { happened, Recorder } from '../harness/node/recorder.ts';
import { remainders } from '../harness/node/sandbox.ts';
import { ManagedProcess } from '../harness/managed-process.ts';
import { paths } from '../harness/paths.ts';
import { readyColumn } from '../harness/pod-table.ts';
import { isReady, type Container, type Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { runInShell } from '../harness/shell.ts';
import { found, Hopeless, none } from '../harness/wait-for.ts';
import { podsOf } from '../harness/workloads.ts';

const name = 'real-pods';
const podKind = resourceKind('v1', 'Pod');
const jobKind = resourceKind('batch/v1', 'Job');
const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };

export const realPods: Scenario = {
  name,
  about:
    'on a real node, the operator runs as helm and injector install deploy it; classic, native and gateway sidecars, probes, hooks, Jobs and Services work; a killed run leaves nothing behind',
  destructive: 'it installs the operator as real pods',
  realNode: true,
  run: async (context) => {
    const { client, cluster } = context;
    const recorder = await Recorder.start(context.requireControlPlane().sandbox?.plan.machine ?? '');
    context.atEnd(() => recorder.stop());
    const [byHelm, byCommand] = [
      await context.namespace('helm', restricted),
      await context.namespace('command', restricted),
    ];
    const helm = await findHelm((line) => context.say(line));
    const environment = { PATH: process.env['PATH'], HOME: cluster.run.path, KUBECONFIG: cluster.kubeconfig };
    const run = async (command: string) => {
      const { code, text } = await runInShell(`${helm} ${command} -n ${byHelm} --wait`, environment);
      if (code !== 0) throw new Error(`helm ${command}: ${text}`);
    };
    await run(`install injector-operator "${paths.chart}"`);
    await checkOperator(context, byHelm);
    await run('uninstall injector-operator');
    await injectorOutput(['install', '-n', byCommand, ...clusterFlags(cluster)]);
    await checkOperator(context, byCommand);
    for (const isNative of [false, true]) await applyUntilReady(client, config(isNative, recorder.url));
    const injected = (revision: string) => context.namespace(revision, { 'istio.io/rev': revision, ...restricted });
    const [classic, native] = [await injected('classic'), await injected('native')];
    const create: Stage['create'] = (...pod) => client.create(podOf(...pod));
    const stage = { context, recorder, create };
    await Promise.all([
      checkProbes(stage, classic),
      checkGateway(stage, classic),
      checkOrder(stage, native),
      checkJobs(stage, classic, native),
      checkKilledRun(context),
    ]);
    return 'each injected pod ran, and a killed run left nothing behind';
  },
};

/** What the checks of pods share. */
interface Stage {
  context: ScenarioContext;
  recorder: Recorder;
  create: (...pod: Parameters<typeof podOf>) => Promise<Pod & KubernetesObject>;
}

/** Checks the pods of the chart, after helm or `injector install` has waited for them. */
async function checkOperator(context: ScenarioContext, namespace: string): Promise<void> {
  const { client } = context;
  await context.check(`${namespace}: the pods of the chart are ready, and did not restart`, async () => {
    const list = await podsOf(client, namespace);
    const running = list.filter(({ status }) => status?.phase === 'Running');
    none(
      running.filter((pod) => readyColumn(pod) !== '1/1' || restartsOf(pod) > 0).map(({ metadata }) => metadata.name!),
    );
    return running.length === 5;
  });
  await context.check(`${namespace}: the PodDisruptionBudgets count all these pods as healthy`, async () => {
    const budgets = resourceKind('policy/v1', 'PodDisruptionBudget');
    const { items } = await client.listAll<Budget>(budgets, { namespace });
    return found(
      items
        .map(({ status }) => `${status.currentHealthy} ${status.disruptionsAllowed}`)
        .sort()
        .join(),
      '2 1,3 1',
    );
  });
  await context.checkNow(
    `${namespace}: the containers have a read-only root file system, and three probes`,
    async () => {
      const containers = (await podsOf(client, namespace)).flatMap(({ spec }) => spec.containers);
      const isHardened = (each: Container) =>
        (each['securityContext'] as Record<string, unknown>)['readOnlyRootFilesystem'] === true &&
        ['startupProbe', 'livenessProbe', 'readinessProbe'].every((probe) => probe in each);
      return containers.every(isHardened);
    },
  );
}

interface Budget extends KubernetesObject {
  status: { currentHealthy: number; disruptionsAllowed: number };
}

function restartsOf({ status }: Pod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** What gateways need: they choose a template, and the API server sets a pull policy for `auto`. */
const gatewayFields = { allow: ['inject.istio.io/templates'], sameNameFields: ['imagePullPolicy'] };

/** All containers get SIGTERM at once, but a classic sidecar must still answer for hooks. */
const lingers = { preStop: { sleep: { seconds: 2 } } };

/** Builds an injector whose sidecar answers for the app's probes, and a template for gateways. */
function config(isNative: boolean, recorder: string) {
  const revision = isNative ? 'native' : 'classic';
  const named = (container: string) => '{{ index .ObjectMeta.Labels `app` }}/' + container;
  const answers = { ports: [{ containerPort: 15020 }], readinessProbe: call(15020, '/ready', { periodSeconds: 1 }) };
  const proxy = agent({ name: named('istio-proxy'), recorder, port: 15020 }, answers);
  const startupProbe = call(15020, '/ready', { periodSeconds: 1 });
  const sidecar = isNative
    ? {
        initContainers: [
          agent({ name: named('prepare'), recorder, exit: 0 }),
          { ...proxy, restartPolicy: 'Always', startupProbe },
        ],
      }
    : { containers: [{ ...proxy, lifecycle: lingers }] };
  const templates = { sidecar: { spec: sidecar }, gateway: { spec: { containers: [proxy] } } };
  const texts = Object.entries(templates).map(([key, template]) => [key, dump(template)]);
  return injectorConfig(revision, {
    injection: {
      templates: Object.fromEntries(texts) as Record<string, string>,
      annotationOverrides: gatewayFields,
    },
  });
}

/** Builds a pod whose app answers on port 8080. */
function podOf(namespace: string, app: string, containers: Container[], more: Partial<Pod> = {}) {
  const { metadata, spec } = more;
  const annotations = { 'sidecar.istio.io/rewriteAppHTTPProbers': 'true', ...metadata?.annotations };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: app, namespace, labels: { app }, annotations },
    spec: { containers, ...spec },
  };
}

/** Checks probes and hooks that the sidecar takes over, Services, and the end of a pod. */
async function checkProbes({ context, recorder, create }: Stage, namespace: string): Promise<void> {
  const { client } = context;
  const probed = { readinessProbe: call(8080, '/ready', { periodSeconds: 1 }) };
  const hook = { lifecycle: { preStop: call(8080, '/drain') } };
  await create(namespace, 'web', [
    agent({ name: 'web/app', recorder: recorder.url, port: 8080 }, { ...probed, ...hook }),
  ]);
  await create(namespace, 'broken', [
    agent({ name: 'broken/app', recorder: recorder.url, port: 8080, status: 503 }, probed),
  ]);
  const port = { port: 80, targetPort: 8080 };
  const service = await client.create<KubernetesObject & { spec: { clusterIP: string } }>({
    ...objectOf('v1', 'Service', 'web', namespace),
    spec: { selector: { app: 'web' }, ports: [port] },
  } as never);
  const web = await context.check('classic: a pod gets ready through the sidecar, which asks the app', async () => {
    const pod = await client.get<Pod>(podKind, 'web', { namespace });
    const app = pod.spec.containers.find((each) => each.name === 'app');
    return isReady(pod) && JSON.stringify(app?.['readinessProbe']).includes('/app-health/app/readyz') && pod;
  });
  await context.check(
    'negative control: an app that answers with 503 does not get ready, and its sidecar does',
    async () => {
      const { status } = await client.get<Pod>(podKind, 'broken', { namespace });
      const ready = (status?.containerStatuses ?? []).map((each) => `${each.name} ${String(each.ready)}`);
      return found(ready.sort().join(), 'app false,istio-proxy true');
    },
  );
  await create(namespace, 'caller', [
    agent({ name: 'caller/app', recorder: recorder.url, get: `http://${service.spec.clusterIP}/` }),
  ]);
  await context.check("a pod reaches another pod at its Service's address", () =>
    happened(recorder.of('caller'), 'app got web/app'),
  );
  const path = resourcePath(resourceKind('v1', 'Service'), { namespace, name: 'web:80', subresource: 'proxy' });
  await context.check('the API server reaches the pod through its Service', async () =>
    found(String(await client.request('GET', `${path}/`)), 'web/app'),
  );
  await client.delete(web);
  const deleted = Date.now();
  await context.check(
    'classic: the preStop hook runs before SIGTERM, and both containers end by themselves',
    async () => {
      happened(recorder.of('web'), 'app drains', 'app stopped');
      happened(recorder.of('web'), 'istio-proxy stopped');
      return isGone(client, podKind, 'web', { namespace });
    },
  );
  await context.checkNow(
    'the deletion takes less than a third of the grace period',
    () => Date.now() - deleted < 10_000,
  );
}

/** Checks a pod whose only container gets its image from the template. */
async function checkGateway({ context, recorder, create }: Stage, namespace: string): Promise<void> {
  const annotations = { 'inject.istio.io/templates': 'gateway' };
  const proxy = { name: 'istio-proxy', image: 'auto', imagePullPolicy: 'IfNotPresent' };
  await create(namespace, 'gateway', [proxy], { metadata: { annotations } });
  await context.check('gateway: the container runs with the image of the template', async () => {
    happened(recorder.of('gateway'), 'istio-proxy started');
    const pod = await context.client.get<Pod>(podKind, 'gateway', { namespace });
    return isReady(pod) && found(pod.spec.containers.map(({ image }) => image).join(), agentImage);
  });
}

/** Checks the order in which the containers of a pod with a native sidecar start and end. */
async function checkOrder({ context, recorder, create }: Stage, namespace: string): Promise<void> {
  const { client } = context;
  const hook = { lifecycle: { preStop: call(8080, '/drain') } };
  const initContainers = [agent({ name: 'ordered/own', recorder: recorder.url, exit: 0 })];
  const app = agent({ name: 'ordered/app', recorder: recorder.url, port: 8080 }, hook);
  const pod = await create(namespace, 'ordered', [app], { spec: { initContainers } as never });
  await context.check(
    'native: the sidecar starts first, then the init containers run in their order, then the app starts',
    () => happened(recorder.of('ordered'), 'istio-proxy started', 'prepare ends', 'own ends', 'app started'),
  );
  await client.delete(pod);
  await context.check('native: the hook runs, then the app ends, then the sidecar', async () => {
    happened(recorder.of('ordered'), 'app drains', 'app stopped', 'istio-proxy stopped');
    return isGone(client, podKind, 'ordered', { namespace });
  });
}

/** Checks that a Job ends with a native sidecar, but not with a classic one. */
async function checkJobs({ context, recorder }: Stage, classic: string, native: string): Promise<void> {
  const { client } = context;
  for (const [namespace, app] of [
    [native, 'job-native'],
    [classic, 'job-classic'],
  ] as const) {
    const spec = {
      restartPolicy: 'Never',
      containers: [agent({ name: `${app}/app`, recorder: recorder.url, exit: 0 })],
    };
    const template = { metadata: { labels: { app } }, spec };
    await client.create({ ...objectOf('batch/v1', 'Job', app, namespace), spec: { template } } as never);
  }
  const stateOf = async (namespace: string, app: string) => {
    const { status } = await client.get<Job>(jobKind, app, { namespace });
    return `${status?.active ?? 0} active, ${status?.succeeded ?? 0} succeeded`;
  };
  await context.check('a Job with a native sidecar completes', async () => {
    happened(recorder.of('job-native'), 'istio-proxy started', 'app ends', 'istio-proxy stopped');
    return found(await stateOf(native, 'job-native'), '0 active, 1 succeeded');
  });
  await context.check(
    'negative control: a Job with a classic sidecar does not complete when its app has ended',
    async () => {
      const [pod] = await podsOf(client, classic, 'job-classic');
      const ended = pod?.status?.containerStatuses?.some(({ state }) => state?.terminated?.reason === 'Completed');
      return ended === true && found(await stateOf(classic, 'job-classic'), '1 active, 0 succeeded');
    },
  );
}

interface Job extends KubernetesObject {
  status?: { active?: number; succeeded?: number };
}

/** Kills another run with SIGKILL while a container runs on its node. */
async function checkKilledRun(context: ScenarioContext): Promise<void> {
  const other = new ManagedProcess({
    name: 'killed-run',
    command: process.execPath,
    arguments: [...process.execArgv, join(import.meta.dirname, name, 'killed-process.ts'), context.cluster.run.path],
    run: context.cluster.run,
  });
  other.start();
  context.atEnd(() => other.kill());
  const { plan, folder } = await context.check('two real nodes run beside each other', () => {
    const line = other
      .log()
      .split('\n')
      .find((each) => each.startsWith('{'));
    if (line === undefined && !other.running) throw new Hopeless(other.logTail());
    return line === undefined ? undefined : (JSON.parse(line) as { plan: AddressPlan; folder: string });
  });
  const left = () => [...remainders(plan), ...[folder].filter(existsSync)];
  await context.checkNow(
    'negative control: routes, cgroups and folders of the other run exist',
    () => left().length > 3,
  );
  await other.kill();
  await context.check('after SIGKILL of the other run, none of them is left', () => none(left()));
}
