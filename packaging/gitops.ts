/** Steps of scenario `gitops`: kubectl's diffs, and the states that health checks judge. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { applyAll, applyObject, isTrue } from '../e2e/harness/apply.ts';
import { clusterFlags } from '../e2e/harness/injector-command.ts';
import { injectorConfigs, type InjectorConfigObject } from '../e2e/harness/injector-configs.ts';
import type { Installation } from '../e2e/harness/installation.ts';
import { shortLeases } from '../e2e/harness/operator-process.ts';
import { paths } from '../e2e/harness/paths.ts';
import { Replicas } from '../e2e/harness/replicas/replicas.ts';
import { revisionTags } from '../e2e/harness/revision-tags.ts';
import type { ScenarioContext } from '../e2e/harness/scenario-context.ts';
import { untilActive } from '../e2e/harness/until-active.ts';
import { found, waitFor } from '../e2e/harness/wait-for.ts';
import { waitForDeployment } from '../e2e/harness/workloads.ts';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import type { Kind } from './health-checks.ts';

/** An entry of e2e/scenarios/gitops/states.yaml, which documents the fields. */
interface Step {
  apply?: KubernetesObject;
  call?: string;
  state?: string;
  read?: KubernetesObject;
  until?: string;
}

const kinds = { InjectorConfig: injectorConfigs, RevisionTag: revisionTags };
const examples = ['hello.yaml', 'revision-1-24.yaml', 'revision-1-25.yaml', 'revision-tag-canary.yaml'];

/** Applies the chart and examples by kubectl. Checks the diff before and after an operator run. */
export async function checkDiffs(context: ScenarioContext, method: string, flags: string[]): Promise<void> {
  const { client, cluster } = context;
  const folder = join(cluster.run.path, method);
  mkdirSync(folder);
  /** Returns the output of kubectl; if kubectl fails, prefixed by its exit status. */
  const kubectl = async (...argv: string[]) => {
    try {
      const { stdout } = await promisify(execFile)(join(paths.binaries, 'kubectl'), [
        ...argv,
        ...clusterFlags(cluster),
      ]);
      return stdout;
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return `${code}: ${stdout}${stderr}`;
    }
  };
  const [definitions, chart] = ['definitions.json', 'chart.json'].map((file) => join(folder, file)) as [string, string];
  const files = [definitions, chart, ...examples.map((file) => join(paths.examples, file))];
  const named = files.flatMap((file) => ['-f', file]);
  const checkEmptyDiff = (when: string) =>
    context.checkNow(`${method}: the diff is empty ${when}`, async () =>
      found(await kubectl('diff', ...flags, ...named), ''),
    );
  const installation = await context.install({ mode: 'split' }, async (objects) => {
    const listOf = (pattern: RegExp) => objects.filter(({ kind }) => pattern.test(kind));
    await applyAll(client, listOf(/^Namespace$/));
    for (const [file, items] of [
      [definitions, listOf(/^CustomResourceDefinition$/)],
      [chart, listOf(/^(?!Namespace$|CustomResource)/)],
    ] as const)
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    for (const file of files) {
      const output = await kubectl('apply', ...flags, '-f', file);
      if (/^\d+: /.test(output)) throw new Error(output);
      if (file === definitions) await kubectl('wait', '--for=condition=Established', 'crd', '--all');
    }
  });
  await checkEmptyDiff('before the operator runs');
  const operator = await startOperator(context, installation);
  for (const [kind, name] of [
    ['InjectorConfig', '1-25'],
    ['InjectorConfig', 'default'],
    ['RevisionTag', 'prod'],
  ] as const)
    await context.check(`${kind} ${name} is Ready`, async () => isTrue(await client.get(kinds[kind], name), 'Ready'));
  await checkEmptyDiff('after the operator has written status, finalizers and caBundles');
  const edited = join(folder, 'edited.yaml');
  writeFileSync(edited, readFileSync(files[3]!, 'utf8').replace(/image: \S+$/m, 'image: example.com/other:1'));
  await context.checkNow(`${method}: control: the diff shows an edit`, async () => {
    return /^1: [^]*\+ .*example.com\/other:1/m.test(await kubectl('diff', ...flags, '-f', edited));
  });
  // Delete the tag first, because it uses the InjectorConfigs.
  await kubectl('delete', '-f', files.at(-1)!);
  await Promise.all(files.slice(2, -1).map((file) => kubectl('delete', '-f', file)));
  await operator.end();
  await kubectl('delete', '-f', chart);
}

/** Starts a webhook replica and a controller of the installation. */
async function startOperator(context: ScenarioContext, installation: Installation): Promise<Replicas> {
  const replicas = await Replicas.start(context.cluster, installation, {
    webhooks: 1,
    controllers: 1,
    flags: [shortLeases, '--drain-seconds=0'],
  });
  context.atEnd(() => replicas.stop());
  return replicas;
}

/** Drives real objects through the states of states.yaml, and reads the object in each state. */
export async function recordStates(
  context: ScenarioContext,
  file: string,
): Promise<{ state: string; object: KubernetesObject }[]> {
  const { client } = context;
  const installation = await context.install({ mode: 'split' });
  let replicas: Replicas | undefined;
  const calls: Record<string, () => unknown> = {
    'start the operator': async () => (replicas = await startOperator(context, installation)),
    'freeze the controller': () => replicas?.controllers[0]?.operator.process.freeze(),
    'unfreeze the controller': () => replicas?.controllers[0]?.operator.process.unfreeze(),
    'stop the balancer': () => replicas?.balancer.stop(),
    'freeze the webhook': () => replicas?.webhooks[0]?.operator.process.freeze(),
    'wait for the workload': () => waitForDeployment(client, 'gitops-pods', 'work'),
    'wait until webhooks are active': () => untilActive(client),
  };
  const recorded: { state: string; object: KubernetesObject }[] = [];
  for (const { apply, call, state, read = apply, until } of load(readFileSync(file, 'utf8')) as Step[]) {
    if (call !== undefined) await calls[call]!();
    if (apply !== undefined) await applyObject(client, apply);
    if (state === undefined || read === undefined) continue;
    const object = await waitFor(`${read.kind} ${read.metadata.name}: ${state}`, async () => {
      const stored = await client.get<InjectorConfigObject>(kinds[read.kind as Kind], read.metadata.name ?? '');
      const ready = stored.status?.conditions?.find(({ type }) => type === 'Ready');
      const isCurrent = ready?.observedGeneration === stored.metadata.generation;
      if (until === undefined || (isCurrent && `${ready?.status} ${ready?.reason}` === until)) return stored;
      throw new Error(`condition Ready is ${JSON.stringify(ready)}, expected ${until}`);
    });
    recorded.push({ state, object });
    context.say(`${read.kind} ${read.metadata.name}: ${state}`);
  }
  return recorded;
}
