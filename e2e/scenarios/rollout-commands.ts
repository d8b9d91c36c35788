import { found } from '../harness/wait-for.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { Workloads, waitForRollout } from './canary/workloads.ts';
import { checkMovesByItself } from './rollout-commands/moves-by-itself.ts';
import { Watching, watchLines, type WatchLine } from './rollout-commands/watching.ts';

/** A rollout as a person steers and watches it. */
export const rolloutCommands: Scenario = {
  name: 'rollout-commands',
  about:
    'injector tag set, watch, resume, promote, abort and retry steer a rollout and show it to its end, with the exit status; with restarts it moves by itself',
  paired: true,
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const values = { operator: { restartWorkloads: true } };
    await context.startReplicas({ webhooks: 1, controllers: 1, flags: ['--drain-seconds=2'] }, values);
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, markedConfig('v2', 'two'));
    const pause = 'UntilResumed';
    const strategy = {
      canary: {
        steps: [{ weight: 25, pause }, { weight: 50, pause }, { weight: 100 }],
        analysis: { minimumPods: 1, minReadySeconds: 1 },
      },
    };
    await applyTagUntilReady(client, revisionTag('steered', 'v1', { strategy }));
    const audit = context.requireAudit();
    const workloads = await Workloads.open(context, audit, 'steered', 8);
    try {
      await steer(context);
    } finally {
      await workloads.close();
    }
    const { created, lost } = workloads.lost();
    for (const line of lost.slice(0, 5)) context.say(line);
    await context.checkNow(`0 of ${created} pods lost`, () => lost.length === 0);
    await checkMovesByItself(context);
    return `three rollouts steered by commands, each answered; ${created} pods created, 0 lost; a fourth one moved by restarts alone`;
  },
};

/** Three rollouts of a tag: one promoted by hand, one aborted, and that one again. */
async function steer(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const argv = (...words: string[]) => ['tag', ...words, ...clusterFlags(cluster)];
  const pausedAt = (weight: number) =>
    waitForRollout(
      context,
      'steered',
      `paused at ${weight} percent`,
      (state) => state.phase === 'Paused' && state.weight === weight,
    );

  const begun = await injectorOutput(argv('set', 'steered', '-r', 'v2', '--overwrite'));
  await context.check('set says that a rollout begins, and returns when it is under way', () =>
    /a rollout from revision v1 to v2 begins, in 3 steps[^]*the rollout is under way/.test(begun.out),
  );
  const watched = await Watching.start(argv('watch', 'steered', '-o', 'json'));
  const showsPause = (weight: number) =>
    watched.shows(`the pause at ${weight} percent`, (line) => pauseIn(line) === weight);
  await pausedAt(25);
  const refused = await runInjector(argv('retry', 'steered'));
  await context.check('retry is refused while it goes on', () => {
    found(String(refused.code), '1');
    return /under way, nothing was rolled back; .*nothing was changed/.test(refused.errors);
  });
  await showsPause(25);
  await injectorOutput(argv('resume', 'steered'));
  await pausedAt(50);
  await showsPause(50);
  const promoted = await injectorOutput(argv('promote', 'steered'));
  await context.check('promote ends it at the canary, in the middle', async () => {
    const { status } = await client.get<RevisionTagObject>(revisionTags, 'steered');
    found(status?.stableRevision ?? '', 'v2');
    return /^RevisionTag steered: revision v2 is stable now, in place of v1/.test(promoted.out);
  });
  const { code, out } = await watched.end;
  await context.check('watch ended by itself with status 0, and showed every pause', () => {
    found(String(code), '0');
    const lines = watchLines(out);
    found([...new Set(lines.flatMap((line) => pauseIn(line) ?? []))].join(), '25,50');
    return lines.at(-1)?.rollout?.phase === 'Promoted';
  });

  await injectorOutput(argv('set', 'steered', '-r', 'v1', '--overwrite'));
  const back = await Watching.start(argv('watch', 'steered'));
  await pausedAt(25);
  const aborted = await injectorOutput(argv('abort', 'steered'));
  await context.check('abort ends the next one at stable, and watch with status 3', async () => {
    found(String((await back.end).code), '3');
    return /^RevisionTag steered: revision v1 was rolled back to v2/.test(aborted.out);
  });
  await injectorOutput(argv('retry', 'steered'));
  await pausedAt(25);
  await injectorOutput(argv('abort', 'steered'));
}

/** The weight at which a line shows the rollout paused; undefined when it does not. */
function pauseIn({ rollout }: WatchLine): number | undefined {
  return rollout?.phase === 'Paused' ? rollout.weight : undefined;
}
