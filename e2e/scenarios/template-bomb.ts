import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { processUsage } from '../../bench/server/process-usage.ts';
import type { Condition } from '../../src/api/kubernetes/kubernetes.ts';
import { dryRun, refusalOf } from '../harness/admissions.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import {
  applyUntilReady,
  condition,
  injectorConfig,
  injectorConfigs,
  smallConfig,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { isInjected } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none } from '../harness/wait-for.ts';
import { barePod } from '../harness/workloads.ts';
import { atAdmission, bombs, type Bomb } from './template-bomb/bombs.ts';

/** MiB: the most that the operator may take, which the chart gives 768. */
const mostMemory = 600;
/** All bombs have their verdict by then, in milliseconds; on a calm machine it takes a tenth of it. */
const verdictsWithin = 300_000;

export const templateBomb: Scenario = {
  name: 'template-bomb',
  about:
    'InjectorConfigs that take endless time or memory beside an innocent one: it keeps serving, and a restart stays up',
  destructive: 'it needs the embedded control plane and its audit log',
  run: async (context) => {
    checkThreadsDie(context);
    const operator = await context.startOperator();
    await applyUntilReady(context.client, markedConfig('innocent', 'one'));
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'innocent' });
    const texts = await context.namespace('texts');
    const audit = context.requireAudit();
    const { pid } = operator.process;
    const load = await context.startLoad({ namespace, perSecond: 10, replicaSetPods: 0, inspect: markDefect });
    const losses = new Losses(context, load, audit);
    await sleep(3000);
    const undisturbed = losses.report();

    const began = Date.now();
    const planted: Bomb[] = [];
    for (const bomb of bombs) if (await plant(context, texts, bomb)) planted.push(bomb);
    const verdicts = await checkVerdicts(context, planted);
    const seconds = (Date.now() - began) / 1000;
    await checkAtAdmission(context);
    await losses.checkNone('while the bombs were tried', { askedSince: began });
    const disturbed = losses.report({ askedSince: began });
    await load.stop();
    await context.checkNow('the operator is the same process as before', () => operator.process.pid === pid);
    const memory = Math.round(processUsage(pid ?? 0).peakResidentBytes / 1024 / 1024);
    await context.checkNow(`it never took more than ${mostMemory} MiB`, () => memory <= mostMemory);

    await operator.process.kill();
    const restarted = Date.now();
    await operator.restart();
    const readyAfter = Date.now() - restarted;
    context.say(`ready ${readyAfter} ms after a restart with all bombs in place`);
    await context.check('it leads, has looked at every bomb, and stands', async () => {
      const metrics = await operator.metrics();
      return planted.every((bomb) => new RegExp(`reconcile\\w*\\{[^}]*"${bombName(bomb)}"`).test(metrics));
    });
    const again = await Promise.all(planted.map((bomb) => verdictOf(context, bomb)));
    await context.checkNow("every bomb's condition is what it was", () => {
      const changed = planted.filter((bomb, index) => again[index]?.message !== verdicts.get(bomb)?.message);
      return none(changed.map(bombName));
    });
    await context.check('none that was found too costly has been tried again', async () => {
      const metrics = await operator.metrics();
      // A published one may be put off until the others have been tried.
      return !/injector_configuration_trials_total\{outcome="costly"\} [1-9]/.test(metrics);
    });
    await context.check('the innocent one is served', async () => (await answerFor(context, namespace)) === 'injected');
    const [first] = planted.filter((bomb) => verdicts.get(bomb)?.reason === 'TooCostly');
    if (first === undefined) throw new Error('no bomb was too costly');
    await applyUntilReady(context.client, smallConfig(bombName(first)));
    await context.checkNow('a bomb that is mended is tried, and serves', () => true);

    const tooCostly = [...verdicts.values()].filter(({ reason }) => reason === 'TooCostly').length;
    const refused = [...verdicts.values()].filter(({ status }) => status === 'False').length;
    context.measured({
      bombs: bombs.length,
      refusedByApiServer: bombs.length - planted.length,
      refused,
      tooCostly,
      published: planted.length - refused,
      secondsUntilAllVerdicts: Math.round(seconds),
      createdMeanwhile: disturbed.created,
      lost: 0,
      p99Milliseconds: { undisturbed: undisturbed.p99Milliseconds, disturbed: disturbed.p99Milliseconds },
      peakResidentMebibytes: memory,
      readyAfterRestartMilliseconds: readyAfter,
    });
    return [
      `${bombs.length} bombs: ${bombs.length - planted.length} refused by the API server, ${refused} with a condition (${tooCostly} too costly) after ${seconds.toFixed(0)} s at most`,
      `${disturbed.created} innocent pods meanwhile, 0 lost, p99 ${disturbed.p99Milliseconds} ms (undisturbed ${undisturbed.p99Milliseconds})`,
      `RSS at most ${memory} MiB; ready ${readyAfter} ms after a restart`,
    ].join('; ');
  },
};

/** What an unbounded `concat` does, on a thread with a limit for its heap. */
const onThread = `new (require('node:worker_threads').Worker)('let list = [1]; for (;;) list = list.concat(list);', {
  eval: true,
  resourceLimits: { maxOldGenerationSizeMb: 128 },
}).on('error', () => console.log('the thread ended alone'));`;

/** The negative control, in a process of its own: why configurations are not tried on a thread. V8 ends the whole process. */
function checkThreadsDie(context: ScenarioContext): void {
  const { signal, stdout } = spawnSync(process.execPath, ['-e', onThread], { timeout: 60_000, encoding: 'utf8' });
  if (signal !== 'SIGABRT') throw new Error(`the process was to end by SIGABRT: ${signal ?? 'no signal'} ${stdout}`);
  context.say('a thread that runs out of memory in one allocation ends its whole process (SIGABRT)');
}

/** Each has its condition; one that is published after all answers for its pods: with a clear refusal, or by injecting them. */
async function checkVerdicts(context: ScenarioContext, planted: readonly Bomb[]): Promise<Map<Bomb, Condition>> {
  const verdicts = new Map<Bomb, Condition>();
  await context.check(
    `each of ${planted.length} bombs has its condition TemplatesValid`,
    async () => {
      for (const bomb of planted) {
        const verdict = verdicts.has(bomb) ? undefined : await verdictOf(context, bomb);
        if (verdict !== undefined) verdicts.set(bomb, verdict);
      }
      return none(planted.filter((bomb) => !verdicts.has(bomb)).map((bomb) => `nothing is said of ${bombName(bomb)}`));
    },
    { timeout: verdictsWithin, interval: 500 },
  );
  for (const [bomb, { status, reason, message }] of verdicts) {
    if (status === 'False') tell(context, bomb, `${reason}: ${message}`);
    else await checkPublished(context, bomb);
  }
  return verdicts;
}

/** The beginning of what was said of a bomb, in one line. */
function tell(context: ScenarioContext, bomb: Bomb, said: string): void {
  context.say(`${bomb.name}: ${said.replaceAll(/\s+/g, ' ').slice(0, 160)}`);
}

async function checkPublished(context: ScenarioContext, bomb: Bomb) {
  const namespace = await context.namespace(bomb.name, { 'istio.io/rev': bombName(bomb) });
  const answer = await context.check(`${bomb.name} is published, and answers for its pods`, async () => {
    const said = await answerFor(context, namespace);
    // What is rendered in time may be too much for the API server itself.
    return /injected|template|injecting this pod|limit|strings and lists|YAML|yaml|Too long/.test(said) && said;
  });
  tell(context, bomb, answer);
}

/** Pods without the annotation are served; with it the template goes off. */
async function checkAtAdmission(context: ScenarioContext): Promise<void> {
  for (const bomb of atAdmission) {
    await applyUntilReady(context.client, injectorConfig(bombName(bomb), { injection: bomb.injection }));
    const namespace = await context.namespace(bomb.name, { 'istio.io/rev': bombName(bomb) });
    await context.check(
      `${bomb.name}: pods that do not set it off are served`,
      async () => (await answerFor(context, namespace)) === 'injected',
    );
    const answer = await context.check(`${bomb.name}: one that does is refused by a limit`, async () => {
      const said = await answerFor(context, namespace, { 'example.com/bomb': 'on' });
      return /exceeded|limit of/.test(said) && said;
    });
    tell(context, bomb, answer);
  }
}

const bombName = ({ name }: Bomb): string => `bomb-${name}`;

/** Applies a bomb, with the ConfigMap that it refers to. @returns whether the API server took it */
async function plant({ client }: ScenarioContext, namespace: string, bomb: Bomb): Promise<boolean> {
  const name = bombName(bomb);
  if (bomb.texts !== undefined) {
    await client.create({ ...objectOf('v1', 'ConfigMap', name, namespace), data: bomb.texts });
  }
  const injection = Object.fromEntries(
    Object.entries(bomb.injection).map(([field, value]): [string, unknown] =>
      field.endsWith('From') ? [field, { namespace, name, ...(value as object) }] : [field, value],
    ),
  );
  return (await refusalOf(() => applyObject(client, injectorConfig(name, { injection })))) === undefined;
}

/** What is said of a bomb's templates; undefined while nothing is. */
async function verdictOf({ client }: ScenarioContext, bomb: Bomb): Promise<Condition | undefined> {
  const config = await client.get<InjectorConfigObject>(injectorConfigs, bombName(bomb));
  const found = condition(config, 'TemplatesValid');
  return found?.observedGeneration === config.metadata.generation ? found : undefined;
}

/** What becomes of a pod that a bomb's webhook takes: a clear refusal, or a pod. */
async function answerFor({ client }: ScenarioContext, namespace: string, annotations: Record<string, string> = {}) {
  let answer = '';
  const refused = await refusalOf(async () => {
    answer = isInjected(await dryRun(client, barePod(namespace, 'probe', { annotations }))) ? 'injected' : 'plain';
  });
  return refused ?? answer;
}
