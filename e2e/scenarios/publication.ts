import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../harness/apply.ts';
import { Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { dryRun } from '../harness/admissions.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { barePod } from '../harness/workloads.ts';
import { checkFrozenReplica, checkLateReplica } from './publication/late-replicas.ts';
import { configName, Published } from './publication/published.ts';
import { Random } from '../../scripts/template-recorder/random.ts';

/** An InjectorConfig is edited again and again while pods are created, by people who make mistakes, on replicas that are late. */
export const publication: Scenario = {
  name: 'publication',
  about:
    'many edits under load, some broken: each pod shows one whole configuration, and a late replica delays but never corrupts',
  destructive: 'it needs the embedded control plane and its audit log',
  full: '100 edits under load, about 3 minutes',
  run: async (context) => {
    const { size, seed } = context;
    const replicas = await context.startReplicas({ proxied: true });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    await checkMixtureIsSeen(context);
    const published = new Published(context, namespace);
    await published.ask('first');
    await published.waitFor('first');
    const audit = context.requireAudit();
    const load = await context.startLoad({ namespace, inspect: (pod) => published.inspect(pod) });
    const losses = new Losses(context, load, audit);

    const since = Date.now();
    const edits = await editManyTimes(published, size === 'full' ? 100 : 10, seed);
    await checkBrokenAndBack(published);
    await losses.checkNone(
      `${edits.good} new edits, ${edits.back} back to an earlier one, ${edits.broken} broken; ${published.marks.size} configurations seen in pods, each whole`,
      since,
    );
    await checkLateReplica(published, replicas, losses);
    const frozen = await checkFrozenReplica(published, replicas, losses);
    await load.stop();
    const { created, lost } = losses.report();
    const mixed = lost.filter(({ kind }) => kind !== 'refused');
    await context.checkNow(`of ${created} pods 0 were mixed or plain`, () => mixed.length === 0);
    context.measured({
      created,
      edits: { ...edits },
      configurationsSeen: published.marks.size,
      mixed: 0,
      frozen: { ...frozen },
    });
    return `${created} pods, ${edits.good + edits.back + edits.broken} edits (${edits.broken} broken): 0 mixed; a frozen replica: published after ${frozen.publishedAfterMilliseconds} ms, ${frozen.lost} of at most ${frozen.connections} lost`;
  },
};

/** The negative control: an InjectorConfig whose parts do not belong together gives pods that are seen to be mixed. */
async function checkMixtureIsSeen(context: ScenarioContext): Promise<void> {
  const mixture = markedConfig('mixture', 'one');
  mixture.spec.injection = { ...mixture.spec.injection, values: { mark: 'other' } };
  await applyUntilReady(context.client, mixture);
  const namespace = await context.namespace('mixture', { 'istio.io/rev': 'mixture' });
  await context.check('a pod made of two configurations would be seen', async () => {
    const pod = await dryRun(context.client, barePod(namespace, 'probe'));
    return markDefect(pod)?.kind === 'mixed';
  });
  await context.client.delete(await applyObject(context.client, mixture));
}

/** How many edits of each kind there were. */
export interface Edits {
  good: number;
  broken: number;
  back: number;
}

/** Edits one InjectorConfig again and again: new marks, old ones, broken ones; some are waited for, some overtake each other. */
export async function editManyTimes(published: Published, count: number, seed: number): Promise<Edits> {
  const random = new Random(seed);
  const edits: Edits = { good: 0, broken: 0, back: 0 };
  const earlier: string[] = ['first'];
  for (let index = 1; index <= count; index++) {
    const isWaitedFor = random.chance(0.5);
    const choice = random.next();
    if (choice < 0.25) {
      edits.broken++;
      await published.askBroken(random.below(3));
      if (isWaitedFor) await published.waitForRefusal();
    } else {
      const isBack = choice < 0.5;
      edits[isBack ? 'back' : 'good']++;
      const mark = isBack ? random.pick(earlier) : `edit${index}`;
      earlier.push(mark);
      await published.ask(mark);
      if (isWaitedFor) await published.waitFor(mark);
    }
    if (!isWaitedFor) await sleep(random.below(400));
  }
  return edits;
}

/** After a broken edit the webhook stays where it is; taking it back is a rollback to the very configuration of before. */
export async function checkBrokenAndBack(published: Published): Promise<void> {
  const { context } = published;
  await published.ask('stable');
  const stable = await published.waitFor('stable');
  await published.askBroken(0);
  await published.waitForRefusal();
  await context.check('a broken edit is refused, and pods go on as before', async () => {
    return (await published.hash()) === stable && (await published.shown()) === 'stable';
  });
  await published.ask('next');
  const next = await published.waitFor('next');
  await context.checkNow('the next good one is published', () => next !== stable);
  await published.ask('stable');
  const back = await published.waitFor('stable');
  await context.checkNow('editing back is a rollback: the same configuration as before', () => back === stable);
}
