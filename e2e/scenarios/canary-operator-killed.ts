import type { AuditLog } from '../harness/audit-log.ts';
import { found } from '../harness/found.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario.ts';
import type { ScenarioContext } from '../harness/scenario-context.ts';
import {
  everyTrial,
  kindOf,
  oneOfEachKind,
  restartTrial,
  someTrials,
  type Trial,
} from './canary-operator-killed/choose-targets.ts';
import { judgeRollout, type RolloutHistory } from './canary-operator-killed/judge.ts';
import { rollOutKilled } from './canary-operator-killed/kills.ts';
import { judgeFalsified } from './canary-operator-killed/negative-controls.ts';
import {
  byOperator,
  byPerson,
  rollOut,
  type Direction,
  type Manner,
  type Stage,
} from './canary-operator-killed/rollout.ts';
import { takeOverUnseen } from './canary-operator-killed/unseen-workloads.ts';
import { Workloads } from './canary-operator-killed/workloads.ts';
import {
  auditedWrites,
  describeWrite,
  tag,
  unplannedWrites,
  type RolloutWrite,
} from './canary-operator-killed/writes.ts';

const count = 13;
/** A rollout may end without a write that another one has made, by the time that things take: it is tried so often to be killed there. */
const tries = 5;

/** The leader of a rollout is killed after each single write; somebody else, or the same process anew, goes on. */
export const canaryOperatorKilled: Scenario = {
  name: 'canary-operator-killed',
  about:
    'the leader is killed after each write of a rollout, restarts of workloads among them: it always ends, by exact shares, with evidence for each step, one update of the webhook a step and no restart repeated, and nothing is lost',
  destructive: 'it needs the audit log of the embedded control plane',
  full: 'a SIGKILL after every write, restarted in its pod, and with another leader after one of each kind, about 11 minutes',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas(
      { webhooks: 2, controllers: 2, flags: ['--drain-seconds=2'], proxied: true },
      { operator: { restartWorkloads: true } },
    );
    const audit = context.startAudit();
    if (audit === undefined) throw new Error('this scenario needs the audit log of the embedded control plane');
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, markedConfig('v2', 'two'));
    await applyTagUntilReady(client, revisionTag(tag, 'v1'));
    const workloads = await Workloads.open(context, audit, tag, count);
    const stage: Stage = { context, replicas, workloads };
    const directions = backAndForth();

    const plan = await planOf(stage, audit, directions, byPerson);
    await checkJudge(context, plan.history);
    const trials = await trialsOf(stage, audit, directions, plan);
    let slowest = 0;
    const killed: RolloutWrite[] = [];
    let isTakenOver = false;
    const unreached: string[] = [];
    for (const trial of trials) {
      const began = Date.now();
      const reached = await tryOut(stage, trial, directions);
      killed.push(...reached);
      isTakenOver ||= !trial.isRestarted && reached.length > 0;
      unreached.push(...trial.targets.filter((target) => !reached.includes(target)).map(describeWrite));
      slowest = Math.max(slowest, Date.now() - began);
    }
    const kills = killed.length;
    for (const write of unreached) context.say(`not written again, so nobody was killed after it: ${write}`);
    const kinds = new Set(killed.map(kindOf));
    const passedOver = oneOfEachKind(plan.always).filter((write) => !kinds.has(kindOf(write)));
    const statement = 'leaders were killed after every kind of write that every rollout makes';
    await context.check(statement, () => found(passedOver.map(describeWrite).join(), ''), { timeout: 0 });
    await checkOthers(context, trials, killed, isTakenOver);
    await takeOverUnseen(stage, directions());

    await workloads.close();
    const { created, lost } = workloads.lost();
    for (const line of lost.slice(0, 5)) context.say(line);
    const losses = `${kills + 1} leaders killed: 0 of ${created} pods lost`;
    await context.check(losses, () => lost.length === 0, { timeout: 0 });
    const writes = plan.all.map(describeWrite);
    const figures = { workloads: count, kills, created, lost: 0, slowestMilliseconds: slowest };
    context.measured({ ...figures, writes, unreached });
    return `${plan.all.length} writes in a rollout, ${kills} leaders killed after one of them: every rollout ended, the slowest after ${slowest} ms, each share exact, no restart repeated; ${created} pods: 0 lost`;
  },
};

/** What a rollout by a person alone does not show: restarts of workloads, and another leader. */
async function checkOthers(
  context: ScenarioContext,
  trials: readonly Trial[],
  killed: readonly RolloutWrite[],
  isTakenOver: boolean,
): Promise<void> {
  const restarted = killed.filter(({ resource }) => resource === 'deployments').length;
  const statement = `a leader was killed after restarts of workloads: ${restarted}`;
  await context.check(statement, () => restarted > 0, { timeout: 0 });
  if (trials.every(({ isRestarted }) => isRestarted)) return;
  await context.check('leaders were killed that did not come back until another led', () => isTakenOver, {
    timeout: 0,
  });
}

type Directions = () => Direction;

/** The next rollout goes back to where the one before came from. */
function backAndForth(): Directions {
  let [from, to] = ['v2', 'v1'];
  return () => {
    [from, to] = [to, from];
    return [from, to];
  };
}

/** The writes of a rollout that nobody disturbs. */
interface Plan {
  readonly all: readonly RolloutWrite[];
  /** Those that another one made as well; some depend on the time that things take. */
  readonly always: readonly RolloutWrite[];
  readonly history: RolloutHistory;
}

/** Every write in the full size, one of each kind in the short one; and restarts of workloads. */
async function trialsOf(stage: Stage, audit: AuditLog, directions: Directions, { all, always, history }: Plan) {
  if (stage.context.size === 'short') {
    return [
      ...someTrials(byPerson, always),
      restartTrial(byOperator, history.steps[0]?.canary ?? [], stage.workloads.names),
    ];
  }
  const restarting = await planOf(stage, audit, directions, byOperator);
  const restarts = restarting.all.filter(({ resource }) => resource === 'deployments');
  return [
    ...everyTrial(byPerson, all),
    ...restarts.map((target): Trial => ({ manner: byOperator, targets: [target], isRestarted: true })),
  ];
}

/** Rolls out undisturbed, twice. */
async function planOf(stage: Stage, audit: AuditLog, directions: Directions, manner: Manner): Promise<Plan> {
  const { context, replicas } = stage;
  const first = await rollOut(stage, directions(), manner);
  const since = Date.now();
  const history = await rollOut(stage, directions(), manner);
  const all = history.writes;
  for (const write of all) context.say(describeWrite(write));
  const written = all.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  await context.check(`an undisturbed rollout: ${all.length} writes, the same in the audit log`, () =>
    found(written.sort().join('\n'), auditedWrites(replicas, audit.events(), since).sort().join('\n')),
  );
  const faults = [...judgeRollout(first), ...judgeRollout(history)];
  for (const fault of faults) context.say(fault);
  await context.check(
    'its shares are exact, each step has its evidence, nothing is done twice',
    () => faults.length === 0,
    { timeout: 0 },
  );
  const before = new Set(first.writes.map(describeWrite));
  const always = all.filter((write) => before.has(describeWrite(write)));
  return { all, always, history };
}

/** The judge finds something in whatever is made of a history that must not be. */
async function checkJudge(context: ScenarioContext, history: RolloutHistory): Promise<void> {
  const falsified = judgeFalsified(history);
  for (const [what, each] of falsified) context.say(`${what}: ${each.join('; ')}`);
  const missed = falsified.flatMap(([what, each]) => (each.length === 0 ? [what] : []));
  await context.check('negative control: the same judge refuses what must not be', () => found(missed.join(', '), ''), {
    timeout: 0,
  });
}

/** Rolls out and kills, until it was after the very writes that are meant; those after which it was. */
async function tryOut(stage: Stage, trial: Trial, directions: Directions): Promise<readonly RolloutWrite[]> {
  const { context } = stage;
  const reached: RolloutWrite[] = [];
  let missing = trial.targets;
  for (let attempt = 0; attempt < tries && missing.length > 0; attempt += 1) {
    // One that never comes must not keep the others waiting.
    const targets = attempt === 0 ? missing : missing.filter((_, index) => index === attempt % missing.length);
    const { history, killed } = await rollOutKilled(stage, directions(), { ...trial, targets });
    reached.push(...killed);
    const faults = [...judgeRollout(history), ...unplannedWrites(history.writes)];
    for (const fault of faults.slice(0, 5)) context.say(fault);
    const how = trial.isRestarted ? 'restarted' : 'another leads';
    const what =
      killed.length === 0
        ? 'nobody was killed: it went another way'
        : `killed after ${killed.map(describeWrite).join(', and after ')}; ${how}`;
    await context.check(`${what}: ended, ${history.writes.length} writes, all as without`, () => faults.length === 0, {
      timeout: 0,
    });
    missing = missing.filter((target) => !killed.includes(target));
  }
  return reached;
}
