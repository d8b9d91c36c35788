import type { RestartStatus, RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { clusterFlags, injectorOutput, runInjector, startInjector } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked, markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import { found, Hopeless, waitFor } from '../harness/wait-for.ts';
import { edits } from '../harness/workload-observer/history.ts';
import { waitForRollout, Workloads } from './canary/workloads.ts';
import { checkRestartsBack, startObserved } from './rollout-commands/restarts-back.ts';

export const rolloutCommands: Scenario = {
  name: 'rollout-commands',
  about:
    'the commands injector tag set, resume, promote, abort and retry control a rollout, and watch shows it until it ends; if the operator restarts workloads, a rollout proceeds even if users create no pods, and after a rollback, the workloads with the canary become healthy',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const values = { operator: { restartWorkloads: true } };
    await context.startReplicas({ webhooks: 1, controllers: 1, flags: ['--drain-seconds=2'] }, values);
    await applyMarked(client, { v1: 'one', v2: 'two' });
    await applyUntilReady(client, markedConfig('bad', 'three', {}, 'crash'));
    const pause = 'UntilResumed';
    const strategy = {
      canary: {
        steps: [{ weight: 25, pause }, { weight: 50, pause, minimumPods: 2 }, { weight: 100 }],
        analysis: { minimumPods: 1, minReadySeconds: 1 },
      },
    };
    await applyTagUntilReady(client, revisionTag('steered', 'v1', { strategy }));
    const churn = { pods: 1, roundMs: 400 };
    const workloads = await Workloads.open(context, context.requireAudit(), 'steered', 8, { churn });
    const [, restarted] = await sideBySide(context, [
      checkWaitingRollout(context)
        .then(() => controlRollouts(context))
        .finally(() => workloads.close()),
      // One after the other, because the bounds of restarts apply to all tags together.
      checkRestarts(context).then(() => checkRestartsBack(context, { stable: 'v1', failing: 'bad' })),
    ]);
    const created = await workloads.checkNoneLost();
    return `commands controlled three rollouts; ${created} pods created, 0 lost; a fourth rollout proceeded by restarts alone; after two rollbacks, ${restarted} workloads were restarted`;
  },
};

async function controlRollouts(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const argv = (...words: string[]) => ['tag', ...words, ...clusterFlags(cluster)];
  const pausedAt = (weight: number) =>
    waitForRollout(context, 'steered', `paused at ${weight} percent`, (state) => {
      return state.phase === 'Paused' && state.weight === weight;
    });

  const begun = await injectorOutput(argv('set', 'steered', '-r', 'v2', '--overwrite', '--yes'));
  await context.check('injector tag set says that a rollout begins, and returns when the rollout is in progress', () =>
    /a rollout from revision v1 to v2 begins, in 3 steps[^]*the rollout is under way/.test(begun.out),
  );
  const watched = await watch(argv('watch', 'steered', '-o', 'json'));
  const showsPause = (weight: number) =>
    watched.shows(`the pause at ${weight} percent`, (line) => pauseIn(line) === weight);
  await pausedAt(25);
  const refused = await runInjector(argv('retry', 'steered'));
  await context.check('injector tag retry is refused during a rollout', () => {
    found(String(refused.code), '1');
    return /under way, nothing was rolled back; .*nothing was changed/.test(refused.errors);
  });
  await showsPause(25);
  await injectorOutput(argv('resume', 'steered'));
  await pausedAt(50);
  await showsPause(50);
  const promoted = await injectorOutput(argv('promote', 'steered', '--full'));
  await context.check('injector tag promote makes the canary stable before the last step', async () => {
    const { status } = await client.get<RevisionTagObject>(revisionTags, 'steered');
    found(status?.stableRevision ?? '', 'v2');
    return /^RevisionTag steered: revision v2 is stable now, in place of v1/.test(promoted.out);
  });
  const { code, out } = await watched.end;
  await context.check('injector tag watch shows every pause, and exits with 0 after the promotion', () => {
    found(String(code), '0');
    const lines = watchLines(out);
    found([...new Set(lines.flatMap((line) => pauseIn(line) ?? []))].join(), '25,50');
    return lines.at(-1)?.rollout?.phase === 'Promoted';
  });

  const undone = await injectorOutput(argv('undo', 'steered', '--yes'));
  await context.check('injector tag undo after a promotion begins a rollout to the revision before', () =>
    /a rollout from revision v2 to v1 begins, in 3 steps/.test(undone.out),
  );
  const back = await watch(argv('watch', 'steered'));
  await pausedAt(25);
  const aborted = await injectorOutput(argv('abort', 'steered'));
  await context.check('injector tag abort rolls the next rollout back, and watch exits with 3', async () => {
    found(String((await back.end).code), '3');
    return /^RevisionTag steered: revision v1 was rolled back to v2/.test(aborted.out);
  });
  const doubtful = await runInjector(argv('promote', 'steered'));
  await context.check(
    'injector tag promote of a rolled-back canary shows why, and needs --yes without a terminal',
    () => {
      found(String(doubtful.code), '2');
      return /v1 was rolled back to v2 [^]*pods ready[^]*use -y or --yes to agree; nothing was changed/.test(
        doubtful.errors,
      );
    },
  );
  await injectorOutput(argv('retry', 'steered'));
  await pausedAt(25);
}

/** Checks the commands on a rollout that waits for pods, because nothing follows its tag. */
async function checkWaitingRollout(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const argv = (...words: string[]) => ['tag', ...words, ...clusterFlags(cluster)];
  const [name, analysis] = ['lonely', { minimumPods: 1 }];
  const canary = { steps: [{ weight: 25 }, { weight: 100 }], analysis };
  await applyTagUntilReady(client, revisionTag(name, 'v1', { strategy: { canary } }));
  const wrong = [argv('set', name, '-r', 'v9', '--overwrite'), argv('pause', 'lonley')];
  const unknown = await Promise.all(wrong.map((each) => runInjector(each)));
  await context.check('an unknown revision and an unknown tag have exit status 2', () =>
    found(unknown.map(({ code }) => code).join(), '2,2'),
  );
  const { errors } = await runInjector(argv('undo', name));
  await context.check('injector tag undo says that no revision before the present one is recorded', () =>
    errors.includes('`injector tag set lonely --overwrite -r REVISION` sets one'),
  );
  const predicted = await runInjector(argv('set', name, '-r', 'v2', '--overwrite'));
  const [, shown = ''] = /`injector (diff .*)` shows this comparison/.exec(predicted.out) ?? [];
  const full = await runInjector([...shown.split(' '), ...clusterFlags(cluster)]);
  await context.check('the command that injector tag set prints shows the same comparison', () => {
    // Nothing follows the tag, so there is nothing to compare.
    found(String(full.code), '5');
    return /workloads: 0\n/.test(full.out) && predicted.out.includes('nothing was compared');
  });
  await injectorOutput(argv('set', name, '-r', 'v2', '--overwrite', '--yes'));
  await waitForRollout(context, name, 'waiting for pods', ({ phase }) => phase === 'WaitingForPods');
  await injectorOutput(argv('pause', name));
  await waitForRollout(context, name, 'paused', ({ reason }) => reason === 'UntilResumed');
  const watched = await watch(argv('watch', name));
  await injectorOutput(argv('promote', name, '--step'));
  await waitForRollout(context, name, 'waiting for pods', ({ phase }) => phase === 'WaitingForPods');
  await injectorOutput(argv('undo', name));
  const lines = (await watched.end).out.split('\n').filter(Boolean);
  await context.check('injector tag watch prints no reason of an earlier phase', () => {
    for (const line of lines) context.say(line);
    return (
      /^\S+ Paused, step 1 of 2, /.test(lines[0] ?? '') && lines.every((line) => !/Paused.*WaitingForPods/.test(line))
    );
  });
  await context.check('injector tag undo during a rollout gives the tag its stable revision', async () =>
    found((await client.get<RevisionTagObject>(revisionTags, name)).spec.revision, 'v1'),
  );
}

function pauseIn({ rollout }: WatchLine): number | undefined {
  return rollout?.phase === 'Paused' ? rollout.weight : undefined;
}

const tag = 'steady';
const workloads = 8;
/** The number of workloads in the first step. */
const share = workloads / 4;
/** Makes restarts slow enough for `injector tag watch`, which reads twice a second. */
const slowPods = { annotations: { 'e2e.sidecar-injector.io/ready-after': '2s' } };

/** Checks that a rollout with restarts needs no user action and restarts each workload once. */
async function checkRestarts(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const argv = (...words: string[]) => ['tag', ...words, ...clusterFlags(cluster)];
  const strategy = {
    canary: {
      steps: [{ weight: 25, pause: 'UntilResumed' }, { weight: 100 }],
      analysis: { minimumPods: 1, minReadySeconds: 1 },
    },
    restart: { maxUnavailableWorkloads: 4, perNamespace: 4, minReadySeconds: 1 },
  };
  await applyTagUntilReady(client, revisionTag(tag, 'v1', { strategy }));
  const { observer, names } = await startObserved(context, tag, workloads, slowPods);
  const wholeBy = (maker: string) => names.filter((each) => observer.isWholeBy(each, maker));
  await context.check(`${workloads} workloads are ready with the stable revision`, () =>
    found(wholeBy('v1').join(), names.join()),
  );
  const before = observer.latest();

  const set = await injectorOutput(argv('set', tag, '-r', 'v2', '--overwrite', '--yes'));
  await context.check('injector tag set says which workloads the operator will restart', () =>
    /workloads are restarted when they enter the share, 4 workloads at a time, 4 per namespace/.test(set.out),
  );
  const watched = await watch(argv('watch', tag, '-o', 'json'));
  await waitForRollout(context, tag, 'paused', ({ phase }) => phase === 'Paused');
  await context.check(`in the first step, the operator restarts ${share} workloads once each`, () => {
    found(String(wholeBy('v2').length), String(share));
    found(String(wholeBy('v1').length), String(workloads - share));
    return found([...edits(observer.sightings(), before).keys()].sort().join(), wholeBy('v2').sort().join());
  });
  await watched.shows('the pause', ({ rollout }) => rollout?.phase === 'Paused');
  await injectorOutput(argv('resume', tag));
  const { code, out } = await watched.end;
  await context.check('after the promotion, injector tag watch exits with 0 once no workload is stale', () => {
    found(String(code), '0');
    return found(wholeBy('v2').join(), names.join());
  });
  await context.check('injector tag watch shows the restarts and the promotion', () => {
    const lines = watchLines(out);
    const { rollout, restarts: last } = lines.at(-1) ?? {};
    found(`${rollout?.phase ?? ''} ${last?.phase ?? ''} ${last?.stale ?? ''}`, 'Promoted Idle 0');
    return lines.some(({ restarts }) => restarts?.phase === 'Restarting' && restarts.inProgress > 0);
  });
  await context.check('the operator restarted each workload once', () => {
    const counts = [...edits(observer.sightings(), before).values()];
    return found(counts.join(), names.map(() => 1).join());
  });
}

/** A line of `injector tag watch -o json`. */
interface WatchLine {
  readonly rollout?: RolloutState;
  readonly restarts?: RestartStatus;
}

/** Starts `injector tag watch`. Resolves after the first line of its output. */
async function watch(argv: readonly string[]) {
  const { end, said } = startInjector(argv);
  let hasEnded = false;
  void end.catch(() => undefined).then(() => (hasEnded = true));
  const until = async (what: string, isTrue: () => boolean): Promise<void> => {
    await waitFor(`injector tag watch: ${what}`, () => {
      const holds = isTrue();
      if (!holds && hasEnded) throw new Hopeless(`injector tag watch exited before this: ${what}; output: ${said()}`);
      return holds;
    });
  };
  await until('its first line', () => said().includes('\n'));
  const shows = (what: string, isShown: (line: WatchLine) => boolean) =>
    until(`a line with ${what}`, () => watchLines(said()).some(isShown));
  return { end, shows };
}

/** Parses the complete lines of an output in JSON. */
function watchLines(said: string): WatchLine[] {
  const complete = said.split('\n').slice(0, -1);
  return complete.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as WatchLine);
}
