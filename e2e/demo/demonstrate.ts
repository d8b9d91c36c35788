import { join } from 'node:path';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyAll, readObjects } from '../harness/apply.ts';
import type { Cluster } from '../harness/cluster.ts';
import { applyUntilReady, deleteForced, exampleConfig, injectorConfigs } from '../harness/injector-configs.ts';
import { installChart } from '../harness/installation.ts';
import { paths } from '../harness/paths.ts';
import { podTable } from '../harness/pod-table.ts';
import { waitFor } from '../harness/wait-for.ts';
import { podsOf, restartDeployment, waitForDeployment } from '../harness/workloads.ts';

const namespace = 'demo';
const systemNamespace = 'sidecar-injector-system';

interface WebhookConfiguration extends KubernetesObject {
  webhooks: { clientConfig: { url?: string; service?: { name: string; namespace: string; path: string } } }[];
}

/**
 * Shows the main job in under a screen.
 *
 * @param options.keep whether operator and objects are left up
 * @param options.stays whether the cluster outlives the demo: what is not kept is then removed from it
 */
export async function demonstrate(
  cluster: Cluster,
  report: (line: string) => void,
  options: { keep: boolean; stays: boolean },
): Promise<void> {
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
  if ((await client.find(injectorConfigs, hello.metadata.name)) !== undefined) {
    await deleteForced(client, hello);
    await waitFor(
      'the earlier InjectorConfig to be gone',
      async () => (await client.find(injectorConfigs, hello.metadata.name)) === undefined,
    );
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

/** The cluster is left as it was found, webhooks first: nobody is going to answer them. */
async function removeTraces(cluster: Cluster, examples: KubernetesObject[], chart: KubernetesObject[]): Promise<void> {
  const { client } = cluster;
  for (const object of [...examples].reverse()) {
    if (object.kind === 'InjectorConfig') await deleteForced(client, object);
    else await client.delete(object);
  }
  await waitFor(
    'the InjectorConfig to be gone',
    async () => (await client.listAll(injectorConfigs)).items.length === 0,
  );
  for (const object of [...chart].reverse()) await client.delete(object);
  await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
}

async function webhookAddress(cluster: Cluster): Promise<string> {
  const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
  const { webhooks } = await cluster.client.get<WebhookConfiguration>(kind, 'sidecar-injector-default');
  const { url, service } = webhooks[0]?.clientConfig ?? {};
  return url ?? `https://${service?.name ?? ''}.${service?.namespace ?? ''}.svc${service?.path ?? ''}`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '   ');
}
