import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiVersion, injectorConfigKind } from '../../src/api/injector-config/injector-config.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, isGone, readObjects } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { injectorConfigs, waitForCondition } from '../harness/injector-configs.ts';
import { containersIn } from '../harness/pod.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { repository } from '../harness/paths.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { webhooks } from '../harness/webhook-configurations.ts';
import {
  createNamespace,
  deployment,
  labelNamespace,
  podsOf,
  restartDeployment,
  waitForDeployment,
  waitForEarlierScenarios,
} from '../harness/workloads.ts';

/** A command on the page, with its checks. `injector status` exits with 3 if pods are stale. */
interface Step {
  readonly command: string;
  readonly status?: number;
  readonly says?: RegExp;
  readonly images?: Readonly<Record<string, string>>;
  readonly then?: (context: ScenarioContext, operator: OperatorProcess) => Promise<void>;
}

const [old, next] = ['busybox:1.36', 'busybox:1.37'];
const create = (namespace: string): string =>
  `kubectl create deployment sleep -n ${namespace} --image=busybox:1.36 -- sleep infinity`;

const steps: readonly Step[] = [
  { command: 'kubectl apply -f examples/revision-1-24.yaml' },
  { command: 'kubectl wait --for=condition=Ready icfg/1-24' },
  { command: 'kubectl create namespace test-ns' },
  { command: 'kubectl label namespace test-ns istio.io/rev=1-24' },
  { command: create('test-ns'), images: { 'test-ns': old } },
  { command: 'kubectl apply -f examples/revision-1-25.yaml' },
  { command: 'kubectl wait --for=condition=Ready icfg/1-25', images: { 'test-ns': old } },
  { command: 'injector revisions', says: /\n1-24 .* test-ns +1 .*\n1-25 .* - +0 / },
  { command: 'kubectl label namespace test-ns istio.io/rev=1-25 --overwrite' },
  {
    command: 'injector status -n test-ns',
    status: 3,
    says: /Deployment\/sleep .*\n.*it would get InjectorConfig 1-25/,
  },
  { command: 'kubectl rollout restart deployment -n test-ns', images: { 'test-ns': next } },
  { command: 'injector status -n test-ns', says: /\n1 current, 0 stale, 0 missing\n$/ },
  { command: 'injector tag set prod-stable --revision 1-24', says: /new pods get the revision now/ },
  { command: 'injector tag set prod-canary --revision 1-25', says: /new pods get the revision now/ },
  { command: 'injector tag list', says: /\nprod-canary +1-25 +- +0 +True\nprod-stable +1-24 +- +0 +True\n/ },
  { command: 'kubectl create namespace app-ns-1' },
  { command: 'kubectl label namespace app-ns-1 istio.io/rev=prod-stable' },
  { command: 'kubectl create namespace app-ns-2' },
  { command: 'kubectl label namespace app-ns-2 istio.io/rev=prod-stable' },
  { command: 'kubectl create namespace app-ns-3' },
  { command: 'kubectl label namespace app-ns-3 istio.io/rev=prod-canary' },
  { command: create('app-ns-1') },
  { command: create('app-ns-2') },
  { command: create('app-ns-3'), images: { 'app-ns-1': old, 'app-ns-2': old, 'app-ns-3': next } },
  {
    command: 'injector tag set prod-stable --revision 1-25 --overwrite',
    says: /moved from revision 1-24.*\nnew pods get the revision now\n.*followed by 2 namespaces \(app-ns-1,app-ns-2\) with 2 pods/,
    then: checkOldIsKept,
  },
  { command: 'injector status --stale', status: 3, says: /\nprod-stable +1-25 +0 +2 +0\n/ },
  { command: 'kubectl rollout restart deployment -n app-ns-1' },
  {
    command: 'kubectl rollout restart deployment -n app-ns-2',
    images: { 'app-ns-1': next, 'app-ns-2': next, 'app-ns-3': next },
  },
  { command: 'injector status', says: /\n4 current, 0 stale, 0 missing\n$/ },
  { command: 'injector tag set default --revision 1-25', says: /new pods get the revision now/ },
  { command: 'kubectl create namespace default-ns' },
  { command: 'kubectl label namespace default-ns istio-injection=enabled' },
  { command: create('default-ns'), images: { 'default-ns': next } },
  {
    command: 'injector revisions',
    says: /\n1-24 .* - +- +0 .*\n1-25 .* default,.* 5 [^]*prod-stable/,
    then: countPodsAgain,
  },
  { command: 'kubectl delete icfg 1-24', then: checkOldIsGone },
  { command: 'kubectl label namespace app-ns-3 istio.io/rev=prod-stable --overwrite' },
  { command: 'injector tag remove prod-canary', says: /^RevisionTag prod-canary: removed\n$/ },
];

export const canaryUpgradeWalk: Scenario = {
  name: 'canary-upgrade-walk',
  about: "the commands of docs/canary-upgrade.md (Istio's canary upgrade) have the documented effect on stored pods",
  destructive: 'it installs the default revision and namespaces app-ns-1 … app-ns-3, default-ns and test-ns',
  run: async (context) => {
    const { client } = context;
    await waitForEarlierScenarios(client);
    const operator = await (await context.install()).startOperator({ flags: ['--drain-seconds=0'] });
    await context.checkNow('docs/canary-upgrade.md has exactly these commands', () =>
      found(documentedCommands().join('\n'), steps.map(({ command }) => command).join('\n')),
    );
    const took: number[] = [];
    for (const step of steps) {
      const milliseconds = await walk(context, operator, step);
      if (step.command.startsWith('injector tag set')) took.push(milliseconds);
    }
    return `${steps.length} commands; milliseconds until injector tag set applied to new pods: ${took.join(', ')}`;
  },
};

async function walk(context: ScenarioContext, operator: OperatorProcess, step: Step): Promise<number> {
  const { command, status = 0, says, images = {}, then } = step;
  const began = Date.now();
  if (command.startsWith('kubectl ')) {
    const run = () => kubectl(context.client, command.slice('kubectl '.length)).then(() => true);
    // The API server may refuse a deletion for up to 30 s, until the operator has counted the pods.
    await context.check(`$ ${command}`, run, { timeout: 90_000 });
  } else {
    const argv = command.split(' ').slice(1);
    const { code, out, errors } = await runInjector([...argv, ...clusterFlags(context.cluster)]);
    for (const line of `${out}${errors}`.trimEnd().split('\n')) context.say(line);
    await context.checkNow(`$ ${command} exits with ${status}`, () => {
      if (code !== status) throw new Error(`exit status ${code}`);
      if (says !== undefined && !says.test(out)) throw new Error(`the output does not match ${says.source}`);
      return true;
    });
  }
  const took = Date.now() - began;
  for (const [namespace, image] of Object.entries(images)) {
    await context.check(`all sidecars in ${namespace} have the image ${image}`, async () => {
      const pods = await podsOf(context.client, namespace);
      const sidecars = pods.map((pod) => containersIn(pod).find(({ name }) => name === 'proxy')?.image);
      return pods.length > 0 && sidecars.every((each) => each === image);
    });
  }
  await then?.(context, operator);
  return took;
}

/** Starts a new leader, which counts pods immediately; otherwise, 30 s pass between two counts. */
async function countPodsAgain(_context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  await operator.process.stop(30_000);
  await operator.restart();
}

/** Checks that the old revision cannot be deleted while two pods have its sidecar. */
async function checkOldIsKept(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  const { client } = context;
  await countPodsAgain(context, operator);
  const namesBoth = async () => {
    const { status } = await client.get<{ status?: { pods?: { names: string[] } } }>(injectorConfigs, '1-24');
    return status?.pods?.names.filter((each) => each.startsWith('app-ns-')).length === 2;
  };
  const statement = 'the status of the old revision names the 2 pods with its sidecar';
  await context.check(statement, namesBoth, { timeout: 90_000 });
  const refused = await kubectl(client, 'delete icfg 1-24').catch((error: unknown) => error);
  await context.checkNow(
    'the API server refuses to delete the old revision',
    () => refused instanceof Error && /app-ns-1/.test(refused.message) && refused.message,
  );
}

async function checkOldIsGone(context: ScenarioContext): Promise<void> {
  await context.check('the webhook of the old revision is deleted', () =>
    isGone(context.client, webhooks, 'sidecar-injector-1-24'),
  );
}

/** Returns the commands of the page: lines of code blocks that begin with `$ `, in order. */
function documentedCommands(): string[] {
  const lines = readFileSync(join(repository, 'docs', 'canary-upgrade.md'), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
}

type Parts = Readonly<Partial<Record<'file' | 'name' | 'namespace' | 'key' | 'value' | 'overwrite', string>>>;
type Verb = readonly [RegExp, (client: ApiClient, parts: Parts) => Promise<unknown>];

/** The kubectl commands of the page; each waits for its effect. */
const verbs: readonly Verb[] = [
  [/^apply -f (?<file>\S+)$/, (client, { file = '' }) => applyFile(client, file)],
  [
    /^wait --for=condition=Ready icfg\/(?<name>\S+)$/,
    (client, { name = '' }) => waitForCondition(client, name, 'Ready', 'True', 1),
  ],
  [/^create namespace (?<name>\S+)$/, (client, { name = '' }) => createNamespace(client, name)],
  [/^label namespace (?<name>\S+) (?<key>[^=\s]+)=(?<value>\S+)(?<overwrite> --overwrite)?$/, label],
  [
    /^create deployment (?<name>\S+) -n (?<namespace>\S+) --image=\S+ -- .+$/,
    async (client, { name = '', namespace = '' }) => {
      await applyObject(client, deployment(namespace, name));
      await waitForDeployment(client, namespace, name);
    },
  ],
  [
    /^rollout restart deployment -n (?<namespace>\S+)$/,
    async (client, { namespace = '' }) => {
      const { items } = await client.listAll(resourceKind('apps/v1', 'Deployment'), { namespace });
      for (const { metadata } of items) await restartDeployment(client, namespace, metadata.name ?? '');
    },
  ],
  [
    /^delete icfg (?<name>\S+)$/,
    (client, { name = '' }) => client.delete({ apiVersion, kind: injectorConfigKind, metadata: { name } }),
  ],
];

async function kubectl(client: ApiClient, line: string): Promise<void> {
  const verb = verbs.find(([pattern]) => pattern.test(line));
  if (verb === undefined) throw new Error(`kubectl ${line}: the scenario does not support this command`);
  const [pattern, act] = verb;
  await act(client, pattern.exec(line)?.groups ?? {});
}

async function applyFile(client: ApiClient, file: string): Promise<void> {
  for (const object of readObjects(join(repository, file))) await applyObject(client, object);
}

/** Like kubectl, refuses to change an existing label without --overwrite. */
async function label(client: ApiClient, { name = '', key = '', value = '', overwrite }: Parts): Promise<void> {
  const { metadata } = await client.get(resourceKind('v1', 'Namespace'), name);
  const before = metadata.labels?.[key];
  if (before !== undefined && overwrite === undefined)
    throw new Error(`namespace ${name} already has ${key}=${before}`);
  await labelNamespace(client, name, { [key]: value });
}
