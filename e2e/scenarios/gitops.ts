import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { healthCheck, judge, mutants, type Kind } from '../../packaging/health-checks.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { applyAll, applyObject, isTrue } from '../harness/apply.ts';
import { buildKubectl, buildProgram } from '../harness/build.ts';
import { clusterFlags } from '../harness/injector-command.ts';
import { injectorConfigs, type InjectorConfigObject } from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { paths } from '../harness/paths.ts';
import { revisionTags } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { waitForDeployment } from '../harness/workloads.ts';

/** A step of gitops/states.yaml, which says what its members are. */
interface Step {
  apply?: KubernetesObject;
  call?: string;
  state?: string;
  read?: KubernetesObject;
  until?: string;
}

const kinds = { InjectorConfig: injectorConfigs, RevisionTag: revisionTags };
const examples = ['hello.yaml', 'revision-1-24.yaml', 'revision-1-25.yaml', 'revision-tag-canary.yaml'];

export const gitops: Scenario = {
  name: 'gitops',
  about:
    'kubectl diff of chart and examples is empty, and Argo CD and Flux judge each recorded state as the table says',
  destructive: 'it makes the default injector and crashing pods',
  run: async (context) => {
    const health = await buildProgram('health', (line) => context.say(line));
    await buildKubectl((line) => context.say(line));
    await checkDiffs(context, 'client-side', []);
    await checkDiffs(context, 'server-side', ['--server-side']);
    const recorded = await recordStates(context);
    const page = readFileSync(join(paths.examples, '..', 'docs', 'gitops.md'), 'utf8');
    const row = /^\| (InjectorConfig|RevisionTag) \| (.*?) \| (\w+)[^|]* \| (\w+)[^|]* \|/gm;
    const table = [...page.matchAll(row)].map(([, kind, state, argo, flux]) => `${kind}: ${state}: ${argo}, ${flux}`);
    const verdicts = new Set<string>();
    let noticed = 0;
    for (const kind of Object.keys(kinds) as Kind[]) {
      const some = recorded.filter(({ object }) => object.kind === kind);
      const objects = some.map(({ object }) => object);
      const check = healthCheck(kind);
      const said = judge(health, check, objects);
      for (const [index, verdict] of said.entries()) verdicts.add(`${kind}: ${some[index]!.state}: ${verdict}`);
      const alike = mutants(check).filter((mutant) => judge(health, mutant, objects).join() === said.join());
      noticed += mutants(check).length - alike.length;
      const words = alike.map(({ lua, flux }) => (lua === check.lua ? JSON.stringify(flux) : lua));
      await context.checkNow(`${kind}: a health check with a word less judges otherwise`, () => none(words));
    }
    await context.checkNow('each state is judged as the table of docs/gitops.md says, and each row was recorded', () =>
      found([...verdicts].sort().join('\n'), table.sort().join('\n')),
    );
    return `${recorded.length} states recorded, ${table.length} rows, ${noticed} mutants noticed`;
  },
};

/** Applies the chart and examples as `kubectl` does, and compares before and after the operator has done its work. */
async function checkDiffs(context: ScenarioContext, manner: string, flags: string[]): Promise<void> {
  const { client, cluster } = context;
  const folder = join(cluster.run.path, manner);
  mkdirSync(folder);
  const kubectl = async (...argv: string[]) =>
    promisify(execFile)(join(paths.binaries, 'kubectl'), [...argv, ...clusterFlags(cluster)]).then(
      ({ stdout }) => stdout,
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => `${code}: ${stdout}${stderr}`,
    );
  const [definitions, chart] = ['definitions.json', 'chart.json'].map((file) => join(folder, file)) as [string, string];
  const files = [definitions, chart, ...examples.map((file) => join(paths.examples, file))];
  const named = files.flatMap((file) => ['-f', file]);
  const isSame = (when: string) =>
    context.checkNow(`${manner}: the diff is empty ${when}`, async () =>
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
      const said = await kubectl('apply', ...flags, '-f', file);
      if (/^\d+: /.test(said)) throw new Error(said);
      if (file === definitions) await kubectl('wait', '--for=condition=Established', 'crd', '--all');
    }
  });
  await isSame('before the operator runs');
  const processes = await startOperator(installation);
  for (const [kind, name] of [
    ['InjectorConfig', '1-25'],
    ['InjectorConfig', 'default'],
    ['RevisionTag', 'prod'],
  ] as const)
    await context.check(`${kind} ${name} is Ready`, async () => isTrue(await client.get(kinds[kind], name), 'Ready'));
  await isSame('after it has written status, finalizers and caBundles');
  const edited = join(folder, 'edited.yaml');
  writeFileSync(edited, readFileSync(files[3]!, 'utf8').replace(/image: \S+$/m, 'image: example.com/other:1'));
  await context.checkNow(`${manner}: control: an edit is in the diff`, async () => {
    return /^1: [^]*\+ .*example.com\/other:1/m.test(await kubectl('diff', ...flags, '-f', edited));
  });
  // The tag first: it uses what the others make.
  for (const file of files.slice(2).reverse()) await kubectl('delete', '-f', file);
  await Promise.all(processes.map(({ process }) => process.stop(30_000)));
  await kubectl('delete', '-f', chart);
}

/** A webhook replica and a controller. */
async function startOperator(installation: Installation): Promise<OperatorProcess[]> {
  const webhook = await installation.launchOperator({ role: 'webhook' });
  const controller = await installation.launchOperator({ role: 'controller', advertisePort: webhook.webhookPort });
  for (const each of [webhook, controller]) await each.waitUntilReady();
  return [webhook, controller];
}

async function recordStates(context: ScenarioContext): Promise<{ state: string; object: KubernetesObject }[]> {
  const { client } = context;
  const installation = await context.install({ mode: 'split' });
  let processes: OperatorProcess[] = [];
  const calls: Record<string, () => Promise<unknown>> = {
    'start the operator': async () => (processes = await startOperator(installation)),
    'stop the operator': () => Promise.all(processes.map(({ process }) => process.stop(30_000))),
    'freeze the webhook': async () => processes[0]?.process.freeze(),
    'wait for the workload': () => waitForDeployment(client, 'gitops-pods', 'work'),
    'wait until webhooks are active': () => untilActive(client),
  };
  const recorded: { state: string; object: KubernetesObject }[] = [];
  for (const { apply, call, state, read = apply, until } of load(
    readFileSync(join(import.meta.dirname, 'gitops', 'states.yaml'), 'utf8'),
  ) as Step[]) {
    if (call !== undefined) await calls[call]!();
    if (apply !== undefined) await applyObject(client, apply);
    if (state === undefined || read === undefined) continue;
    const object = await waitFor(`${read.kind} ${read.metadata.name}: ${state}`, async () => {
      const stored = await client.get<InjectorConfigObject>(kinds[read.kind as Kind], read.metadata.name ?? '');
      const ready = stored.status?.conditions?.find(({ type }) => type === 'Ready');
      const isPresent = ready?.observedGeneration === stored.metadata.generation;
      if (until === undefined || (isPresent && `${ready?.status} ${ready?.reason}` === until)) return stored;
      throw new Error(`it says ${JSON.stringify(ready)}`);
    });
    recorded.push({ state, object });
    context.say(`${read.kind} ${read.metadata.name}: ${state}`);
  }
  return recorded;
}
