import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterFlags, runInjector, type CommandResult } from '../../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../../harness/injector-configs.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, deployment, labelNamespace, podsOf, waitForDeployment } from '../../harness/workloads.ts';

const inject = 'sidecar.istio.io/inject';

interface Report {
  result: string;
  injectedBy: string[];
  existing?: { state: string };
  dryRun?: { result: string; foreseen: boolean };
  advice: { sentence: string }[];
}

/** The real command, as a person types it. */
export async function checkByCommand(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const check = (...argv: string[]): Promise<CommandResult> =>
    runInjector(['check', ...argv, ...clusterFlags(cluster)]);
  const namespace = await context.namespace('command');
  await client.create(deployment(namespace, 'web'));
  await waitForDeployment(client, namespace, 'web');
  const [early] = await podsOf(client, namespace, 'web');
  await context.check('check deployment/web: exit status 3, and how to change it', async () => {
    const { code, out } = await check('deployment/web', '-n', namespace);
    return code === 3 && out.includes(`kubectl label namespace ${namespace} istio-injection=enabled`);
  });

  await labelNamespace(client, namespace, { 'istio-injection': 'enabled' });
  await context.check('as advised: check deployment/web has exit status 0', async () => {
    return (await check('deployment/web', '-n', namespace)).code === 0;
  });
  await context.check('check pod/NAME of an older pod: it is Missing what it would get', async () => {
    const [report] = reportsOf(await check(`pod/${early?.metadata.name ?? ''}`, '-n', namespace, '-o', 'json'));
    return report?.result === 'Injected' && report.existing?.state === 'Missing';
  });
  await client.create(barePod(namespace, 'fresh'));
  const state = async (): Promise<string | undefined> =>
    reportsOf(await check('pod/fresh', '-n', namespace, '-o', 'json'))[0]?.existing?.state;
  await context.check('a new pod is Current', async () => (await state()) === 'Current');
  const other = smallConfig('default');
  other.spec.injection['injectedAnnotations'] = { 'example.com/edited': 'yes' };
  await applyUntilReady(client, other);
  await context.check('after an edit of the InjectorConfig it is Stale', async () => (await state()) === 'Stale');
  await context.check('check namespace/NAME: the plain pod, the Deployment and the bare pod', async () => {
    const result = await check(`namespace/${namespace}`, '-o', 'json');
    return result.code === 0 && reportsOf(result).length === 3;
  });

  const file = join(cluster.run.path, 'check.yaml');
  const pods = [
    barePod(namespace, 'refused', { annotations: { 'inject.istio.io/templates': 'nobody' } }),
    barePod(namespace, 'out', { labels: { [inject]: 'false' } }),
  ];
  writeFileSync(file, pods.map((pod) => JSON.stringify(pod)).join('\n---\n'));
  await context.check('check -f FILE --dry-run: exit status 4, and the API server agrees', async () => {
    const result = await check('-f', file, '--dry-run', '-o', 'json');
    const reports = reportsOf(result);
    const isForeseen = reports.length === 2 && reports.every(({ dryRun }) => dryRun?.foreseen === true);
    return result.code === 4 && isForeseen && reports.map((each) => each.result).join() === 'Refused,NotInjected';
  });
  await context.check('check of what is not there: exit status 1', async () => {
    const { code, errors } = await check('deployment/nobody', '-n', namespace);
    return code === 1 && errors.includes('nobody');
  });
}

function reportsOf({ out }: CommandResult): Report[] {
  return JSON.parse(out) as Report[];
}
