/**
 * `make demo`: starts an API server, installs the chart, and shows a Deployment before and after
 * injection. The pods run if this machine has what a real node needs; `NODE=real` and `NODE=fake`
 * choose. `KEEP=1` leaves everything running. If the cluster of `make up` runs, the demo uses it
 * and leaves it running. `CLUSTER=<context> ADVERTISE=<host>` selects the user's own cluster, for
 * which the demo asks for confirmation.
 */
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import { loadKubeConfig } from '../src/kube/kube-config.ts';
import { resourceKind, resourcePath } from '../src/kube/resource-kinds.ts';
import { applyAll, objectOf, readObjects } from './harness/apply.ts';
import { buildBinaries } from './harness/build.ts';
import { openCluster, type Cluster } from './harness/cluster.ts';
import { findPrograms } from './harness/control-plane.ts';
import {
  applyUntilReady,
  conditionOf,
  deleteForced,
  exampleConfig,
  injectorConfigs,
} from './harness/injector-configs.ts';
import { installChart } from './harness/installation.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { choosesRealNode } from './harness/node/choose-node.ts';
import { paths } from './harness/paths.ts';
import { containersIn } from './harness/pod.ts';
import { podTable } from './harness/pod-table.ts';
import type { Pod } from './harness/pod.ts';
import { printFailure } from './harness/print-failure.ts';
import { endStandingOperators, openStandingCluster, standingCluster } from './harness/standing-cluster.ts';
import { waitFor } from './harness/wait-for.ts';
import { webhooks, type WebhookConfiguration } from './harness/webhook-configurations.ts';
import { podsOf, restartDeployment, waitForDeployment } from './harness/workloads.ts';

const report: (line: string) => void = console.log;

async function main(): Promise<number> {
  const { CLUSTER = '', ADVERTISE = '' } = process.env;
  const own = CLUSTER !== '';
  const choice = own ? { context: CLUSTER, advertiseHost: ADVERTISE } : {};
  if (own && !(await isConfirmed(CLUSTER, ADVERTISE))) return 2;
  // Never keep objects on the user's own cluster: pods there must not depend on this machine.
  const keep = !own && isSet('KEEP');
  if (!own && findPrograms() !== undefined)
    report('this machine has etcd and kube-apiserver, so `make demo-quick` can show an injected pod in seconds');
  const started = Date.now();
  await buildBinaries(report, !own);
  const { cluster, stays } = own ? { cluster: await openCluster(choice, report), stays: false } : await openStage(keep);
  const end = async (failed: boolean) => {
    if (!stays) await cluster.stop(failed);
    else if (!keep) endStandingOperators();
  };
  const stopInterrupting = onInterrupt(() => end(true));
  let failed = true;
  try {
    if (own) await refuseExistingNamespaces(cluster);
    await demonstrate(cluster, { keep, stays: own || stays });
    failed = false;
    if (keep) report(howToTryMore(cluster));
  } catch (error) {
    console.error(
      `the demo failed: ${error instanceof Error ? error.message : String(error)}\nlogs: ${cluster.run.path}`,
    );
  }
  stopInterrupting();
  if (failed || !keep) await end(failed);
  const kept = `; the control plane keeps running${keep ? '' : ' without an operator'}: \`make down\` stops it`;
  const rest = own ? '' : stays ? kept : '; nothing is left running (KEEP=1 make demo keeps it)';
  if (!failed) report(`done in ${((Date.now() - started) / 1000).toFixed(1)} s${rest}`);
  return failed ? 1 : 0;
}

/** Refuses a cluster that already has a namespace which the demo would delete at its end. */
async function refuseExistingNamespaces({ client }: Cluster): Promise<void> {
  for (const name of [systemNamespace, namespace]) {
    if ((await client.find(resourceKind('v1', 'Namespace'), name)) === undefined) continue;
    throw new Error(`namespace ${name} exists, and the demo would delete it at its end: choose another cluster`);
  }
}

/** Explains what the demo does to the user's own cluster, and asks for confirmation. */
async function isConfirmed(context: string, advertise: string): Promise<boolean> {
  const server = loadKubeConfig({ context }).getCurrentCluster()?.server ?? '';
  if (advertise === '') {
    console.error(
      `The webhook of the demo runs on this machine, and the API server of ${context} must reach it: give the DNS name of this machine with\n` +
        `ADVERTISE=<host> (k3d: host.k3d.internal, minikube: host.minikube.internal, kind with Docker Desktop: host.docker.internal)`,
    );
    return false;
  }
  if (/^[\d.]+$|:/.test(advertise)) {
    console.error(
      `ADVERTISE=${advertise} must be a DNS name such as host.docker.internal, because a Service cannot point to an IP`,
    );
    return false;
  }
  report(
    `context ${context}, ${server}: the demo installs the chart in namespace ${systemNamespace} (two CustomResourceDefinitions,\n` +
      `roles, policies), an InjectorConfig that selects every namespace labelled istio-injection=enabled, and namespace ${namespace}.\n` +
      `This machine serves its webhook as ${advertise}. At the end, the demo removes everything.`,
  );
  if (isSet('YES')) return true;
  if (!process.stdin.isTTY) {
    console.error('stdin is not a terminal: confirm with YES=1');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Continue? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function isSet(name: string): boolean {
  return !['', '0'].includes(process.env[name] ?? '');
}

/** Opens the standing cluster if it runs or if `keep` is set; else opens a cluster for this run. */
async function openStage(keep: boolean): Promise<{ cluster: Cluster; stays: boolean }> {
  const standing = await standingCluster();
  if (standing !== undefined) {
    endStandingOperators();
    return { cluster: standing, stays: true };
  }
  const realNode = choosesRealNode(report);
  return keep
    ? { cluster: await openStandingCluster(realNode, report), stays: true }
    : { cluster: await openCluster({ realNode }, report), stays: false };
}

/** Lists further commands. Scenario `readme` runs these lines as printed. */
function howToTryMore(cluster: Cluster): string {
  const commands: [command: string, says?: string][] = [
    [`export KUBECONFIG=${cluster.kubeconfig ?? ''}`],
    ['alias injector="node dist/injector.cjs"'],
    ['kubectl get injectorconfigs'],
    ['injector check deployment/sleep -n demo', 'why the pods are injected'],
  ];
  // A real node pulls no image, and has only those of the first example.
  const second: typeof commands = [
    ['kubectl apply -f examples/istio-1.1-release.yaml', 'a second revision'],
    ['kubectl wait --for=condition=Ready icfg/istio-1-1'],
    ['kubectl label namespace demo istio-injection- istio.io/rev=istio-1-1', 'the namespace follows this revision'],
    ['injector status', 'the pod is stale'],
    ['kubectl rollout restart deployment sleep -n demo'],
    ['kubectl rollout status deployment sleep -n demo'],
  ];
  const last: typeof commands = [
    ['injector revisions'],
    [
      isReal(cluster)
        ? `kubectl logs -f -n ${systemNamespace} deployment/injector-operator`
        : `tail -f ${relative(process.cwd(), cluster.run.path)}/operator-*.log`,
      'what the operator does',
    ],
    ['make down', 'stop everything'],
  ];
  const lines = [...commands, ...(isReal(cluster) ? [] : second), ...last].map(
    ([command, says]) => `   ${says === undefined ? command : `${command.padEnd(50)} # ${says}`}`,
  );
  return ['', 'The demo is running. Try more (with kubectl):', ...lines].join('\n');
}

const namespace = 'demo';
const systemNamespace = 'sidecar-injector-system';

/**
 * Runs the demo.
 *
 * @param options.keep whether to leave operator and objects running
 * @param options.stays whether the cluster outlives the demo, which then removes its own objects
 */
async function demonstrate(cluster: Cluster, options: { keep: boolean; stays: boolean }): Promise<void> {
  const { client } = cluster;
  const { gitVersion } = (await client.request('GET', '/version')) as { gitVersion: string };
  report(`\n1. kube-apiserver ${gitVersion}: ${cluster.description}`);
  // Under `restricted`, Pod Security would refuse dry runs of pods as users have them.
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  const relaxed = (object: KubernetesObject): KubernetesObject =>
    object.kind === 'Namespace' ? { ...object, metadata: { ...object.metadata, labels } } : object;
  const apply = (objects: KubernetesObject[]) => applyAll(client, objects.map(relaxed));
  const installation = await installChart(cluster, systemNamespace, { mode: 'all' }, apply);
  const operator = isReal(cluster) ? undefined : await installation.startOperator();
  const runs =
    operator === undefined
      ? 'the operator runs as its pods, from its own image'
      : `the operator runs with its ServiceAccount (${operator.residentMemory()} MiB)`;
  report(`2. installed the chart in namespace ${systemNamespace}; ${runs}`);

  // Remove the InjectorConfig of an earlier demo on this cluster.
  const hello = exampleConfig('hello.yaml');
  const find = () => client.find(injectorConfigs, hello.metadata.name);
  if ((await find()) !== undefined) {
    await deleteForced(client, hello);
    await waitFor('the earlier InjectorConfig to be deleted', async () => (await find()) === undefined);
  }
  const sleep = readObjects(join(paths.examples, 'sleep.yaml'));
  await applyAll(client, sleep);
  await waitForDeployment(client, namespace, 'sleep');
  await restartDeployment(client, namespace, 'sleep');
  report('3. examples/sleep.yaml: a namespace labelled istio-injection=enabled with a Deployment\n');
  report(indent(podTable(await podsOf(client, namespace), new Date())));

  const applied = Date.now();
  await applyUntilReady(client, hello);
  const seconds = ((Date.now() - applied) / 1000).toFixed(1);
  const unjudged = await conditionOf(client, hello.metadata.name, 'PodsNotValidated');
  const verdict = unjudged?.status === 'True' ? `did not validate (${unjudged.message})` : 'has validated';
  report(
    `\n4. examples/hello.yaml: an InjectorConfig, Ready after ${seconds} s; the API server ${verdict}\n   its pods by dry runs, and now calls\n   ${await webhookAddress(cluster)}`,
  );
  await restartDeployment(client, namespace, 'sleep');
  const pods = await podsOf(client, namespace);
  report('5. the restarted Deployment\n');
  report(indent(podTable(pods, new Date())));
  const containers = pods
    .slice(0, 1)
    .flatMap(containersIn)
    .map(({ name, image }) => `${name} (${image})`);
  report(`\n   its containers: ${containers.join(', ')}`);
  if (isReal(cluster)) report(indent(await whatRan(client, pods[0]!)));
  if (options.keep) operator?.process.release();
  else if (options.stays) await removeTraces(cluster, [...sleep, hello], installation.objects);
}

/** Reports whether a real node of the harness runs the pods, those of the operator included. */
function isReal({ fakeNodes, context }: Cluster): boolean {
  return !fakeNodes && context === undefined;
}

/** Returns when the containers of a pod started, and the first line that each sidecar printed. */
async function whatRan(client: Cluster['client'], { metadata, spec }: Pod): Promise<string> {
  const { name = '', namespace } = metadata;
  const { status } = await client.get<Pod>(resourceKind('v1', 'Pod'), name, { namespace });
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const started = statuses.map((each) => `${each.name} ${each.state?.running?.startedAt?.slice(11, 19) ?? ''}`);
  const path = resourcePath(resourceKind('v1', 'Pod'), { namespace, name, subresource: 'log' });
  const log = await client.request('GET', path, { query: { container: 'hello' } });
  const [line = ''] = String(log).split('\n');
  const isNative = spec.initContainers?.some((each) => each.name === 'hello') === true;
  return `started in this order: ${started.join(', ')}${isNative ? ' (hello is a native sidecar)' : ''}\nhello printed: ${line}`;
}

/** Restores the cluster. Removes webhooks first, because no process serves them anymore. */
async function removeTraces(cluster: Cluster, examples: KubernetesObject[], chart: KubernetesObject[]): Promise<void> {
  const { client } = cluster;
  for (const object of [...examples].reverse()) {
    if (object.kind === 'InjectorConfig') await deleteForced(client, object);
    else await client.delete(object);
  }
  // Also remove other InjectorConfigs on the cluster: no process would serve them.
  const all = async () => (await client.listAll(injectorConfigs)).items;
  for (const config of await all())
    await deleteForced(client, { ...exampleConfig('hello.yaml'), metadata: config.metadata });
  await waitFor('the InjectorConfigs to be deleted', async () => (await all()).length === 0);
  for (const object of [...chart].reverse()) await client.delete(object);
  await client.delete(objectOf('v1', 'Namespace', systemNamespace));
}

async function webhookAddress(cluster: Cluster): Promise<string> {
  const { webhooks: all } = await cluster.client.get<WebhookConfiguration>(webhooks, 'sidecar-injector-default');
  const { url, service } = all[0]?.clientConfig ?? {};
  return url ?? `https://${service?.name ?? ''}.${service?.namespace ?? ''}.svc${service?.path ?? ''}`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '   ');
}

// Operators and control planes that keep running must not keep this process alive.
process.exit(await main().catch(printFailure));
