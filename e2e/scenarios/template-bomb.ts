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
import { lossesOf } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { isInjected } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { barePod } from '../harness/workloads.ts';
import { atAdmission, bombs, type Bomb } from './template-bomb/bombs.ts';

/** The maximum memory of the operator in MiB. The chart's limit is 768 MiB. */
const mostMemory = 600;
/** The timeout for all verdicts in milliseconds. An idle machine needs a tenth of this time. */
const verdictsTimeoutMs = 300_000;

export const templateBomb: Scenario = {
  name: 'template-bomb',
  about:
    'despite InjectorConfigs whose templates take endless time or memory, the operator serves an innocent InjectorConfig, before and after a restart',
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
    const losses = lossesOf(context, load, audit);
    await sleep(3000);
    const undisturbed = losses.report();

    const began = Date.now();
    const planted: Bomb[] = [];
    for (const bomb of bombs) if (await plant(context, texts, bomb)) planted.push(bomb);
    const verdicts = await checkVerdicts(context, planted);
    const seconds = (Date.now() - began) / 1000;
    await checkAtAdmission(context);
    await losses.checkNone('while the operator tried the bombs', { askedSince: began });
    const disturbed = losses.report({ askedSince: began });
    await load.stop();
    await context.checkNow('after all trials, the same operator process runs', () => operator.process.pid === pid);
    const memory = Math.round(processUsage(pid ?? 0).peakResidentBytes / 1024 / 1024);
    await context.checkNow(`the operator never used more than ${mostMemory} MiB`, () => memory <= mostMemory);

    await operator.process.kill();
    const restarted = Date.now();
    await operator.restart();
    const readyAfter = Date.now() - restarted;
    context.say(`ready ${readyAfter} ms after a restart with all bombs in place`);
    await context.check('after the restart, the operator leads and has reconciled every bomb', async () => {
      const metrics = await operator.metrics();
      return planted.every((bomb) => new RegExp(`reconcile\\w*\\{[^}]*"${bombName(bomb)}"`).test(metrics));
    });
    const again = await Promise.all(planted.map((bomb) => verdictOf(context, bomb)));
    await context.checkNow('the condition of every bomb is the same as before the restart', () => {
      const changed = planted.filter((bomb, index) => again[index]?.message !== verdicts.get(bomb)?.message);
      return none(changed.map(bombName));
    });
    await context.check('after the restart, the operator does not try bombs again that were too costly', async () => {
      const metrics = await operator.metrics();
      // Trials of published configurations may be postponed until all other trials are done.
      return !/injector_configuration_trials_total\{outcome="costly"\} [1-9]/.test(metrics);
    });
    await context.check('innocent pods are injected', async () => (await answerFor(context, namespace)) === 'injected');
    const [first] = planted.filter((bomb) => verdicts.get(bomb)?.reason === 'TooCostly');
    if (first === undefined) throw new Error('none of the bombs was too costly');
    await applyUntilReady(context.client, smallConfig(bombName(first)));
    await context.checkNow('a corrected bomb is published', () => true);

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
      `${bombs.length} bombs: the API server refused ${bombs.length - planted.length}, and the operator refused ${refused} (${tooCostly} of them as too costly) within ${seconds.toFixed(0)} s`,
      `${disturbed.created} innocent pods created during the trials, 0 lost, p99 ${disturbed.p99Milliseconds} ms (undisturbed: ${undisturbed.p99Milliseconds} ms)`,
      `RSS at most ${memory} MiB; ready ${readyAfter} ms after a restart`,
    ].join('; ');
  },
};

/** A script that runs an endless `concat` on a thread with a heap limit. */
const onThread = `new (require('node:worker_threads').Worker)('let list = [1]; for (;;) list = list.concat(list);', {
  eval: true,
  resourceLimits: { maxOldGenerationSizeMb: 128 },
}).on('error', () => console.log('the thread ended alone'));`;

/** Shows that trials on a thread would be unsafe, because V8 aborts the whole process. */
function checkThreadsDie(context: ScenarioContext): void {
  const { signal, stdout } = spawnSync(process.execPath, ['-e', onThread], { timeout: 60_000, encoding: 'utf8' });
  if (signal !== 'SIGABRT') throw new Error(`expected SIGABRT, not ${signal ?? 'no signal'}: ${stdout}`);
  context.say('a thread that runs out of memory in one allocation aborts its whole process (SIGABRT)');
}

/** Waits for the condition of each bomb. Checks that published bombs inject or refuse pods. */
async function checkVerdicts(context: ScenarioContext, planted: readonly Bomb[]): Promise<Map<Bomb, Condition>> {
  const verdicts = new Map<Bomb, Condition>();
  const collect = async () => {
    for (const bomb of planted) {
      const verdict = verdicts.has(bomb) ? undefined : await verdictOf(context, bomb);
      if (verdict !== undefined) verdicts.set(bomb, verdict);
    }
    return none(planted.filter((bomb) => !verdicts.has(bomb)).map((bomb) => `${bombName(bomb)} has no condition`));
  };
  const statement = `each of ${planted.length} bombs gets the condition TemplatesValid`;
  await context.check(statement, collect, { timeout: verdictsTimeoutMs, interval: 500 });
  for (const [bomb, { status, reason, message }] of verdicts) {
    if (status === 'False') tell(context, bomb, `${reason}: ${message}`);
    else await checkPublished(context, bomb);
  }
  return verdicts;
}

/** Prints the beginning of a message about a bomb in one line. */
function tell(context: ScenarioContext, bomb: Bomb, said: string): void {
  context.say(`${bomb.name}: ${said.replaceAll(/\s+/g, ' ').slice(0, 160)}`);
}

async function checkPublished(context: ScenarioContext, bomb: Bomb) {
  const namespace = await context.namespace(bomb.name, { 'istio.io/rev': bombName(bomb) });
  const answer = await context.check(`pods of the published bomb ${bomb.name} are injected or refused`, async () => {
    const said = await answerFor(context, namespace);
    // The API server may also refuse the result of a template that rendered in time.
    return /injected|template|injecting this pod|limit|strings and lists|YAML|yaml|Too long/.test(said) && said;
  });
  tell(context, bomb, answer);
}

/** Checks that pods that trigger a bomb are refused, and that all other pods are injected. */
async function checkAtAdmission(context: ScenarioContext): Promise<void> {
  for (const bomb of atAdmission) {
    await applyUntilReady(context.client, injectorConfig(bombName(bomb), { injection: bomb.injection }));
    const namespace = await context.namespace(bomb.name, { 'istio.io/rev': bombName(bomb) });
    await context.check(`${bomb.name}: pods that do not trigger the bomb are injected`, async () =>
      found(await answerFor(context, namespace), 'injected'),
    );
    const answer = await context.check(`${bomb.name}: a limit refuses a pod that triggers the bomb`, async () => {
      const said = await answerFor(context, namespace, { 'example.com/bomb': 'on' });
      return /exceeded|limit of/.test(said) && said;
    });
    tell(context, bomb, answer);
  }
}

const bombName = ({ name }: Bomb): string => `bomb-${name}`;

/** Applies a bomb and its ConfigMap. Reports whether the API server accepted the bomb. */
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

/** Returns the condition TemplatesValid of a bomb; undefined if it is missing or outdated. */
async function verdictOf({ client }: ScenarioContext, bomb: Bomb): Promise<Condition | undefined> {
  const config = await client.get<InjectorConfigObject>(injectorConfigs, bombName(bomb));
  const found = condition(config, 'TemplatesValid');
  return found?.observedGeneration === config.metadata.generation ? found : undefined;
}

/** Dry-runs a pod. Returns the message of its refusal, `injected` or `plain`. */
async function answerFor({ client }: ScenarioContext, namespace: string, annotations: Record<string, string> = {}) {
  let answer = '';
  const refused = await refusalOf(async () => {
    answer = isInjected(await dryRun(client, barePod(namespace, 'probe', { annotations }))) ? 'injected' : 'plain';
  });
  return refused ?? answer;
}
