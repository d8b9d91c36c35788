/**
 * `make demo`: an API server, the chart, the operator, one InjectorConfig and one Deployment, before and after. `KEEP=1` leaves it up.
 * A cluster that `make up` started is used and stays; a cluster of the user's own is used with `--destructive --advertise HOST` only.
 */
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import { applyAll, objectOf, readObjects } from './harness/apply.ts';
import { buildBinaries } from './harness/build.ts';
import { namesOwnCluster, openCluster, type Cluster } from './harness/cluster.ts';
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
  const { values } = parseArgs({
    options: {
      destructive: { type: 'boolean', default: false },
      context: { type: 'string' },
      advertise: { type: 'string' },
    },
  });
  const choice = { context: values.context, advertiseHost: values.advertise };
  const own = namesOwnCluster(choice);
  if (own && (!values.destructive || choice.advertiseHost === undefined)) {
    console.error(
      'KUBECONFIG or --context names a cluster of your own. The demo installs an injector there that selects every namespace labelled\n' +
        'istio-injection=enabled, and the cluster must reach this machine: run e2e/demo.ts --destructive --advertise HOST, or unset KUBECONFIG',
    );
    return 2;
  }
  // On a cluster of the user's own nothing is kept: its pods must not wait for a process on this machine.
  const keep = !own && (process.env['KEEP'] ?? '') !== '' && process.env['KEEP'] !== '0';
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
  const rest = stays || own ? '' : ', nothing is left running; KEEP=1 make demo leaves it up';
  if (!failed) report(`done in ${((Date.now() - started) / 1000).toFixed(1)} s${rest}`);
  return failed ? 1 : 0;
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
  const all = () => client.listAll(injectorConfigs);
  await waitFor('the InjectorConfig to be gone', async () => (await all()).items.length === 0);
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
