/**
 * `make demo`: an API server, the chart, the operator, one InjectorConfig and one Deployment, before and after. `KEEP=1` leaves it up.
 * A cluster that `make up` started is used and stays; a cluster of the user's own is used when it is named, and asked for: `CLUSTER=<context> ADVERTISE=<host> make demo`.
 */
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import { loadKubeConfig } from '../src/kube/kube-config.ts';
import { resourceKind } from '../src/kube/resource-kinds.ts';
import { applyAll, objectOf, readObjects } from './harness/apply.ts';
import { buildBinaries } from './harness/build.ts';
import { openCluster, type Cluster } from './harness/cluster.ts';
import { findPrograms } from './harness/control-plane.ts';
import { applyUntilReady, deleteForced, exampleConfig, injectorConfigs } from './harness/injector-configs.ts';
import { installChart } from './harness/installation.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { paths } from './harness/paths.ts';
import { podTable } from './harness/pod-table.ts';
import { endStandingOperators, openStandingCluster, standingCluster } from './harness/standing-cluster.ts';
import { waitFor } from './harness/wait-for.ts';
import { webhooks, type WebhookConfiguration } from './harness/webhook-configurations.ts';
import { podsOf, restartDeployment, waitForDeployment } from './harness/workloads.ts';

const report = (line: string) => {
  console.log(line);
};

async function main(): Promise<number> {
  const { CLUSTER = '', ADVERTISE = '' } = process.env;
  const own = CLUSTER !== '';
  const choice = own ? { context: CLUSTER, advertiseHost: ADVERTISE } : {};
  if (own && !(await isWanted(CLUSTER, ADVERTISE))) return 2;
  // On a cluster of the user's own nothing is kept: its pods must not wait for a process on this machine.
  const keep = !own && isSet('KEEP');
  if (!own && findPrograms() !== undefined)
    report(
      'etcd and kube-apiserver are on this machine: `make demo-quick` shows the injected pod with them, in seconds',
    );
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
    if (own) await refuseWhatIsThere(cluster);
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
  const kept = `, the control plane goes on${keep ? '' : ' without an operator'}: \`make down\` stops it`;
  const rest = own ? '' : stays ? kept : ', nothing is left running; KEEP=1 make demo leaves it up';
  if (!failed) report(`done in ${((Date.now() - started) / 1000).toFixed(1)} s${rest}`);
  return failed ? 1 : 0;
}

/** What is removed at the end must not be there before. */
async function refuseWhatIsThere({ client }: Cluster): Promise<void> {
  for (const name of [systemNamespace, namespace]) {
    if ((await client.find(resourceKind('v1', 'Namespace'), name)) === undefined) continue;
    throw new Error(`namespace ${name} is there already, and the demo removes it at its end: name another cluster`);
  }
}

/** Says what happens to a cluster of the user's own, and asks. */
async function isWanted(context: string, advertise: string): Promise<boolean> {
  const server = loadKubeConfig({ context }).getCurrentCluster()?.server ?? '';
  if (advertise === '') {
    console.error(
      `The webhook of the demo runs on this machine, and the API server of ${context} must reach it: say under which name with\n` +
        `ADVERTISE=<host> (k3d: host.k3d.internal, minikube: host.minikube.internal, kind with Docker Desktop: host.docker.internal)`,
    );
    return false;
  }
  if (/^[\d.]+$|:/.test(advertise)) {
    console.error(
      `ADVERTISE=${advertise}: it must be a DNS name such as host.docker.internal (a Service cannot point to an IP)`,
    );
    return false;
  }
  report(
    `context ${context}, ${server}: the demo installs the chart in namespace ${systemNamespace} (two CustomResourceDefinitions,\n` +
      `roles, policies), an InjectorConfig that selects every namespace labelled istio-injection=enabled, and namespace ${namespace}.\n` +
      `Its webhook is served by this machine, ${advertise}. At the end it removes all of it.`,
  );
  if (isSet('YES')) return true;
  if (!process.stdin.isTTY) {
    console.error('nobody is there to agree: say YES=1');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Go on? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function isSet(name: string): boolean {
  return !['', '0'].includes(process.env[name] ?? '');
}

/** The standing cluster if there is one or it is wanted, else one of this run's own. */
async function openStage(keep: boolean): Promise<{ cluster: Cluster; stays: boolean }> {
  const standing = await standingCluster();
  if (standing !== undefined) {
    endStandingOperators();
    return { cluster: standing, stays: true };
  }
  return keep
    ? { cluster: await openStandingCluster(report), stays: true }
    : { cluster: await openCluster({}, report), stays: false };
}

/** The scenario demo-walk runs these lines as they are printed. */
function howToTryMore(cluster: Cluster): string {
  const commands: [command: string, says?: string][] = [
    [`export KUBECONFIG=${cluster.kubeconfig ?? ''}`],
    ['alias injector="node dist/injector.cjs"'],
    ['kubectl get injectorconfigs'],
    ['injector check deployment/sleep -n demo', 'why its pods are injected'],
    ['kubectl apply -f examples/istio-1.1-release.yaml', 'a second revision'],
    ['kubectl wait --for=condition=Ready icfg/istio-1-1'],
    ['kubectl label namespace demo istio-injection- istio.io/rev=istio-1-1', 'it follows that'],
    ['injector status', 'the pod is stale'],
    ['kubectl rollout restart deployment sleep -n demo'],
    ['kubectl rollout status deployment sleep -n demo'],
    ['injector revisions'],
    [`tail -f ${relative(process.cwd(), cluster.run.path)}/operator-*.log`, 'what the operator does'],
    ['make down', 'stop it all'],
  ];
  const lines = commands.map(
    ([command, says]) => `   ${says === undefined ? command : `${command.padEnd(50)} # ${says}`}`,
  );
  return ['', 'It is up. Try more (with kubectl):', ...lines].join('\n');
}

const namespace = 'demo';
const systemNamespace = 'sidecar-injector-system';

/**
 * Shows the main job in under a screen.
 *
 * @param options.keep whether operator and objects are left up
 * @param options.stays whether the cluster outlives the demo: what is not kept is then removed from it
 */
async function demonstrate(cluster: Cluster, options: { keep: boolean; stays: boolean }): Promise<void> {
  const { client } = cluster;
  const { gitVersion } = (await client.request('GET', '/version')) as { gitVersion: string };
  report(`\n1. kube-apiserver ${gitVersion}: ${cluster.description}`);
  const installation = await installChart(cluster, systemNamespace, { mode: 'all' });
  const operator = await installation.startOperator();
  report(
    `2. the chart is in namespace ${systemNamespace}; the operator runs with its ServiceAccount (${operator.residentMemory()} MiB)`,
  );

  // Of an earlier demo on the same cluster.
  const hello = exampleConfig('hello.yaml');
  const find = () => client.find(injectorConfigs, hello.metadata.name);
  if ((await find()) !== undefined) {
    await deleteForced(client, hello);
    await waitFor('the earlier InjectorConfig to be gone', async () => (await find()) === undefined);
  }
  const sleep = readObjects(join(paths.examples, 'sleep.yaml'));
  await applyAll(client, sleep);
  await waitForDeployment(client, namespace, 'sleep');
  await restartDeployment(client, namespace, 'sleep');
  report('3. examples/sleep.yaml: a namespace labelled istio-injection=enabled with a Deployment\n');
  report(indent(podTable(await podsOf(client, namespace), new Date())));

  const applied = Date.now();
  await applyUntilReady(client, hello);
  report(
    `\n4. examples/hello.yaml: an InjectorConfig, Ready after ${((Date.now() - applied) / 1000).toFixed(1)} s; the API server now asks\n   ${await webhookAddress(cluster)}`,
  );
  await restartDeployment(client, namespace, 'sleep');
  const pods = await podsOf(client, namespace);
  report('5. the Deployment restarted\n');
  report(indent(podTable(pods, new Date())));
  const containers = (pods[0]?.spec.containers ?? []).map(({ name, image }) => `${name} (${image})`);
  report(`\n   its containers: ${containers.join(', ')}`);
  if (options.keep) operator.process.release();
  else if (options.stays) await removeTraces(cluster, [...sleep, hello], installation.objects);
}

/** Restores the cluster. Webhooks go first, because no process answers them any more. */
async function removeTraces(cluster: Cluster, examples: KubernetesObject[], chart: KubernetesObject[]): Promise<void> {
  const { client } = cluster;
  for (const object of [...examples].reverse()) {
    if (object.kind === 'InjectorConfig') await deleteForced(client, object);
    else await client.delete(object);
  }
  // A cluster that stays may have more of them, which nobody would answer for any more.
  const all = async () => (await client.listAll(injectorConfigs)).items;
  for (const config of await all())
    await deleteForced(client, { ...exampleConfig('hello.yaml'), metadata: config.metadata });
  await waitFor('the InjectorConfigs to be gone', async () => (await all()).length === 0);
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

// Operators and control planes that stay must not keep this process.
process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
