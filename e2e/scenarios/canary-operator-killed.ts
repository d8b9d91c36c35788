import type { RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { countingReason } from '../../src/rollout/hold.ts';
import { describeAudited } from '../harness/faulty-proxy/passed-writes.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked, markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import {
  byOrder,
  everyTrial,
  mayBeSkipped,
  kindOf,
  oneOfEachKind,
  otherLeaderTrials,
  othersThan,
  otherWays,
  someTrials,
  usageTrials,
  type Trial,
} from './canary-operator-killed/choose-targets.ts';
import type { RolloutHistory } from './canary-operator-killed/history.ts';
import { judgeRollout } from './canary-operator-killed/judge.ts';
import { wronglyJudged } from './canary-operator-killed/negative-controls.ts';
import { aborted, byOperator, byPerson, failing, failingName, type Plan } from './canary-operator-killed/plans.ts';
import { rollOut, type Stage } from './canary-operator-killed/rollout.ts';
import { Trials } from './canary-operator-killed/trials.ts';
import { Workloads, checkLossSeen, waitForRollout } from './canary/workloads.ts';
import { describeWrite, phaseBefore, tag, type RolloutWrite } from './canary-operator-killed/writes.ts';

const count = 13;

export const canaryOperatorKilled: Scenario = {
  name: 'canary-operator-killed',
  about:
    'the leader is killed after each write of a rollout that is promoted, aborted or rolled back; each rollout still ends as planned, with exact shares, evidence for each step, one update of the webhook per step, no repeated restart, and no lost pod',
  destructive: 'it needs the audit log of the embedded control plane',
  full: 'the leader is killed with SIGKILL after every write, and is restarted or replaced by another leader, about 8 minutes',
  alone: 'it has not been run beside another scenario yet',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas(
      { webhooks: 2, controllers: 2, flags: ['--drain-seconds=2', shortLeases], proxied: true },
      { operator: { restartWorkloads: true } },
    );
    const audit = context.requireAudit();
    await applyMarked(client, { v1: 'one', v2: 'two' });
    await applyUntilReady(client, markedConfig(failingName, 'three', {}, 'crash'));
    await applyTagUntilReady(client, revisionTag(tag, 'v1'));
    await checkLossSeen(context, replicas, tag);
    const workloads = await Workloads.open(context, audit, tag, count, {
      churn: { pods: 0, roundMs: 150 },
      opensReady: false,
    });
    const standstill = context.standstill();
    const stage: Stage = { context, replicas, audit, workloads, standstill, stable: 'v1' };

    const undisturbed = await rollOutUndisturbed(stage, byPerson);
    const unseen = await takeOverUnseen(stage);
    // The later checks cover only writes that do not depend on timing.
    const written = new Set(unseen.writes.map(describeWrite));
    const always = undisturbed.writes.filter((write) => written.has(describeWrite(write)));
    const trials = new Trials(stage);
    const chosen =
      context.size === 'short' ? [...someTrials(byPerson, always), ...otherWays] : await allTrials(stage, undisturbed);
    for (const trial of chosen) await trials.run(trial);
    await checkKills(context, trials, always);
    const wrong = wronglyJudged({
      promoted: undisturbed.history,
      aborted: trials.historyOf(aborted),
      failed: trials.historyOf(failing),
    });
    const statement = 'negative control: exactly one rule refuses each falsified rollout';
    await context.checkNow(statement, () => none(wrong));

    await workloads.close();
    const { created, lost } = workloads.pods.lost();
    const { killed, unreached, slowestMilliseconds } = trials;
    const kills = trials.deaths;
    await context.checkNow(`with ${kills + 1} leaders killed, none of ${created} pods was lost`, () => none(lost));
    const writes = [...new Set(killed.map(describeWrite))].sort();
    const figures = { workloads: count, rollouts: trials.count, kills, created, lost: 0, slowestMilliseconds };
    context.measured({ ...figures, writes, unreached: unreached.map(describeWrite) });
    return `${trials.count} rollouts, ${kills} leaders killed, after ${writes.length} different writes: every rollout ended as planned, the slowest rollout took ${slowestMilliseconds} ms, all shares were exact, no restart was repeated; ${created} pods created, 0 lost`;
  },
};

/** Checks that leaders were killed after every kind of write, including those of other plans. */
async function checkKills(
  context: ScenarioContext,
  { killed, unreached, trials }: Trials,
  always: readonly RolloutWrite[],
) {
  for (const write of unreached)
    context.say(`no leader was killed after this write, because it did not occur: ${describeWrite(write)}`);
  const kinds = new Set(killed.map(kindOf));
  const targeted = [...oneOfEachKind(always), ...otherWays.flatMap(({ targets }) => targets)];
  // Excuse a write that depends on timing if the rollout that targeted it did not reach it.
  const excused = new Set(unreached.filter(mayBeSkipped).map(kindOf));
  const passedOver = targeted
    .filter((write) => ![kinds, excused].some((known) => known.has(kindOf(write))))
    .map(describeWrite);
  const statement =
    'leaders were killed after every kind of write that every rollout makes, including a restart and an abort';
  await context.checkNow(statement, () => none(passedOver));
  if (trials.every(({ isRestarted }) => isRestarted)) return;
  const others = trials.filter(({ isRestarted }) => !isRestarted).flatMap(({ targets }) => targets);
  const isTakenOver = others.some((target) => killed.includes(target));
  await context.checkNow('in some trials, a new leader replaced the killed controller', () => isTakenOver);
}

/** Returns the trials of the full size, which kill leaders after every write of every plan. */
async function allTrials(stage: Stage, undisturbed: Undisturbed): Promise<Trial[]> {
  const [restarting, abortedRollout, failed] = [
    await rollOutUndisturbed(stage, byOperator),
    await rollOutUndisturbed(stage, aborted),
    await rollOutUndisturbed(stage, failing),
  ];
  const restarts = restarting.writes.filter(({ restart }) => restart !== undefined);
  return [
    ...everyTrial(byPerson, undisturbed.writes),
    ...usageTrials(byPerson, undisturbed.writes),
    ...otherLeaderTrials(byPerson, undisturbed.writes),
    ...everyTrial(byOperator, restarts),
    ...everyTrial(aborted, othersThan(undisturbed.writes, abortedRollout.writes)),
    ...everyTrial(failing, othersThan(undisturbed.writes, byOrder(failed.writes))),
  ];
}

const gone = 2;

/** Checks that a new leader starts no step until workloads without pods have pods again. */
export async function takeOverUnseen(stage: Stage): Promise<RolloutHistory> {
  const { context, replicas, workloads } = stage;
  const names = workloads.names.slice(0, gone);
  const meanwhile = async ({ weight }: { readonly weight: number }) => {
    if (weight !== byPerson.steps[0]?.weight) return undefined;
    await workloads.scale(names, 0);
    const leader = await replicas.waitForLeader();
    await replicas.kill(leader);
    await leader.operator.restart();
    return async () => {
      const isHeld = ({ reason, knownWorkloads }: RolloutState) =>
        reason === countingReason && knownWorkloads === workloads.names.length;
      await waitForRollout(context, tag, 'waiting for the workloads that its leader cannot see', isHeld);
      await workloads.scale(names, 1);
    };
  };
  const history = await rollOut(stage, byPerson, { meanwhile });
  await context.checkNow(
    `a new leader that sees ${workloads.names.length - gone} of ${workloads.names.length} workloads begins no step before it has seen all workloads`,
    () => none(judgeRollout(history)),
  );
  return history;
}

interface Undisturbed {
  /** The writes of this rollout. Omits usage statistics and writes of the previous rollout. */
  readonly writes: readonly RolloutWrite[];
  readonly history: RolloutHistory;
}

/** The tolerance for requests in flight at the start of a rollout, in milliseconds. */
const underWayMs = 5000;

async function rollOutUndisturbed(stage: Stage, plan: Plan): Promise<Undisturbed> {
  const { context, replicas, audit } = stage;
  const since = Date.now();
  const history = await rollOut(stage, plan);
  const { writes } = history;
  for (const write of writes) context.say(describeWrite(write));
  const until = writes.at(-1)?.at ?? since;
  const written = writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  const { username } = replicas.installation;
  const audited = (from: number) => describeAudited(audit.writesBy(username), from, until);
  const statement = `the audit log has the ${writes.length} writes that the proxy saw in the undisturbed rollout ${plan.name}`;
  await context.check(statement, () => {
    found(surplus(audited(since), written).join('\n'), '');
    return found(surplus(written, audited(since - underWayMs)).join('\n'), '');
  });
  await context.checkNow(`the undisturbed rollout ${plan.name} complies with every rule`, () =>
    none(judgeRollout(history)),
  );
  return { writes: writes.filter(({ phase }) => phase !== '' && phase !== phaseBefore), history };
}

/** Returns the texts that occur more often in `texts` than in `others`. */
function surplus(texts: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return texts.filter((text) => {
    const index = left.indexOf(text);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}
