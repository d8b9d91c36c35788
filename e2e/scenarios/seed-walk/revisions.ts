import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { containersOf, dryRun } from '../../harness/admissions.ts';
import { applyObject, objectOf, readObjects } from '../../harness/apply.ts';
import {
  applyUntilReady,
  exampleConfig,
  smallConfig,
  type InjectorConfigObject,
} from '../../harness/injector-configs.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import { paths } from '../../harness/paths.ts';
import { readyColumn } from '../../harness/pod-table.ts';
import { runningContainers, type Container } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found } from '../../harness/wait-for.ts';
import { webhookOf } from '../../harness/webhook-configurations.ts';
import { barePod, createDeployment, podsOf, restartDeployment, scenarioLabel } from '../../harness/workloads.ts';

const revisionLabel = 'istio.io/rev';

/** Checks a revision that istio.io/rev selects, and a webhook that is called by URL. */
export async function walkRevisions(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('revision');
  await createDeployment(client, namespace, 'sleep');
  await applyUntilReady(client, exampleConfig('istio-1.1-release.yaml'));
  const metadata = { labels: { [revisionLabel]: 'istio-1-1' } };
  await client.patch(objectOf('v1', 'Namespace', namespace), 'merge', { metadata });
  await restartDeployment(client, namespace, 'sleep');
  const pods = await podsOf(client, namespace, 'sleep');
  await context.check('a pod that istio.io/rev assigns to a second revision is 2/2 with a proxy', () =>
    found(pods.map(readyColumn).join(), '2/2'),
  );
  const initContainer = pods[0]?.spec.initContainers?.find(({ name }) => name === 'istio-init');
  await context.check('the init container of Istio 1.1 has -u 1337, -b 8080, -d 15020 and NET_ADMIN', () => {
    const capabilities = JSON.stringify(initContainer?.['securityContext'] ?? {});
    return (
      argument(initContainer, '-u') === '1337' &&
      argument(initContainer, '-b') === '8080' &&
      argument(initContainer, '-d') === '15020' &&
      capabilities.includes('NET_ADMIN')
    );
  });
  const proxy = pods[0]?.spec.containers.find(({ name }) => name === 'istio-proxy');
  await context.check('the proxy of Istio 1.1 has --applicationPorts and a readiness probe on the status port', () => {
    const readiness = JSON.stringify(proxy?.['readinessProbe'] ?? {});
    return argument(proxy, '--applicationPorts') === '8080' && readiness.includes('15020');
  });
  const volumes = JSON.stringify(pods[0]?.spec.volumes ?? []);
  await context.check(
    'the pod mounts a volume in memory and the Secret istio.<serviceaccount>',
    () => volumes.includes('"medium":"Memory"') && volumes.includes('"secretName":"istio.default"'),
  );

  const unlabelled = await context.namespace('own-revision');
  const chosen = await containersOf(client, unlabelled, { labels: { [revisionLabel]: 'istio-1-1' } });
  await context.check('label istio.io/rev on a pod selects a revision', () => chosen.includes('istio-proxy'));
  const both = await context.namespace('both-labels', { 'istio-injection': 'enabled', [revisionLabel]: 'istio-1-1' });
  const names = await containersOf(client, both);
  await context.check(
    'istio-injection=enabled has priority over istio.io/rev',
    () => names.includes('hello') && !names.includes('istio-proxy'),
  );

  await walkUrl(context, operator);
  await walkExamples(context);
}

/** Checks that each InjectorConfig in examples/ becomes Ready and that its pods are accepted. */
async function walkExamples(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const files = readdirSync(paths.examples)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => readObjects(join(paths.examples, file)));
  for (const objects of files) {
    const example = objects.find((object): object is InjectorConfigObject => object.kind === 'InjectorConfig');
    if (example === undefined) continue;
    // Create the objects that the example refers to. The cleanup deletes their namespace.
    for (const { metadata, ...object } of objects.filter((each) => each !== example)) {
      const labels = object.kind === 'Namespace' ? { [scenarioLabel]: 'true' } : {};
      await applyObject(client, { ...object, metadata: { ...metadata, labels } });
    }
    const { metadata, spec } = example;
    await applyUntilReady(client, example);
    const revision = (spec['revision'] as string | undefined) ?? metadata.name;
    const labels =
      spec.webhook?.['selection'] === 'Custom' ? { 'kubesphere.io/workspace': 'demo' } : { [revisionLabel]: revision };
    const namespace = await context.namespace(`example-${metadata.name}`, labels);
    const pod = await dryRun(client, barePod(namespace, 'pod'));
    await context.checkNow(
      `the example ${metadata.name} is Ready and the API server accepts its pods`,
      () => runningContainers(pod).length === 2,
    );
  }
}

async function walkUrl(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  const { client, cluster } = context;
  const url = `https://${cluster.advertiseHost}:${operator.webhookPort}`;
  await applyUntilReady(client, smallConfig('by-url', { url }));
  const { webhooks: all } = await webhookOf(client, 'by-url');
  await context.check('the webhook has clientConfig.url instead of a Service', () =>
    all.every(({ clientConfig }) => clientConfig.url?.startsWith(url) === true && clientConfig.service === undefined),
  );
  const namespace = await context.namespace('by-url', { [revisionLabel]: 'by-url' });
  const names = await containersOf(client, namespace);
  await context.check('a pod is injected through the URL', () => names.includes('by-url'));
}

/** Returns the argument that follows a flag in a container's arguments. */
function argument(container: Container | undefined, flag: string): string | undefined {
  const args = container?.args ?? [];
  const index = args.indexOf(flag);
  return index === -1 ? undefined : args[index + 1];
}
