import { judgeRollout } from '../../src/operator/rollout/testdata/rollout-rules.ts';
import { describeAudited } from '../harness/faulty-proxy/passed-writes.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked, markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { aborted, byOperator, byPerson, failing, failingName, type Plan } from './canary-operator-killed/plans.ts';
import { rollOut, type Stage } from './canary-operator-killed/rollout.ts';
import { everyTrial, kindOf, mayBeSkipped, shortTrials, Trials } from './canary-operator-killed/trials.ts';
import { Workloads, checkLossSeen } from './canary/workloads.ts';
import { tag } from './canary-operator-killed/writes.ts';

const count = 13;

export const canaryOperatorKilled: Scenario = {
  name: 'canary-operator-killed',
  about:
    'the leader is killed after each kind of write of a rollout; each rollout still ends as planned, with exact shares, evidence for each step, one update of the webhook per step, no repeated restart, and no lost pod',
  destructive: 'it needs the audit log of the embedded control plane',
  full: 'the leader is killed with SIGKILL after every write of a rollout that is promoted, aborted or rolled back, and is restarted or replaced by another leader, half an hour',
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

    const isShort = context.size === 'short';
    const trials = new Trials(stage);
    const chosen = [...shortTrials];
    const keys = chosen.flatMap(({ targets }) => targets);
    for (const plan of isShort ? [byPerson] : [byPerson, byOperator, aborted(15), failing]) {
      const written = await rollOutUndisturbed(stage, plan);
      keys.push(...written);
      if (!isShort) chosen.push(...everyTrial(plan, written));
    }
    for (const trial of chosen) await trials.run(trial);
    await checkKills(context, trials, keys);

    await workloads.close();
    const { created, lost } = workloads.pods.lost();
    const { unreached, slowestMilliseconds, deaths: kills } = trials;
    const killed = [...trials.killed].sort();
    await context.checkNow(`with ${kills} leaders killed, none of ${created} pods was lost`, () => none(lost));
    const figures = { workloads: count, rollouts: trials.count, kills, created, lost: 0, slowestMilliseconds };
    context.measured({ ...figures, writes: killed, unreached });
    return `${trials.count} rollouts, ${kills} leaders killed, after ${killed.length} different writes: every rollout ended as planned, the slowest rollout took ${slowestMilliseconds} ms, all shares were exact, no restart was repeated; ${created} pods created, 0 lost`;
  },
};

/** Checks that leaders were killed after every kind of write, including those of other plans. */
async function checkKills(context: ScenarioContext, trials: Trials, keys: readonly string[]) {
  for (const key of trials.unreached)
    context.say(`no leader was killed after this write, because it did not occur: ${key}`);
  // In the short size, a verb and a resource are a kind. In the full size, the phase matters too.
  const kind = (key: string) => (context.size === 'short' ? key.split(' ', 2).join(' ') : kindOf(key));
  const kinds = new Set([...trials.killed, ...trials.unreached.filter(mayBeSkipped)].map(kind));
  const missing = keys.filter((key) => !kinds.has(kind(key)));
  const statement =
    'leaders were killed after every kind of write that every rollout makes, including a restart and an abort';
  await context.checkNow(statement, () => none(missing));
}

/** The tolerance for requests in flight at the start of a rollout, in milliseconds. */
const underWayMs = 5000;

/** Returns the keys of the writes of a rollout. */
async function rollOutUndisturbed(stage: Stage, plan: Plan): Promise<string[]> {
  const { context, replicas, audit } = stage;
  const since = Date.now();
  const history = await rollOut(stage, plan);
  const { writes } = history;
  for (const { key } of writes) context.say(key);
  const until = writes.at(-1)?.at ?? since;
  const written = writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  const { username } = replicas.installation;
  const audited = (from: number, to: number) => describeAudited(audit.writesBy(username), from, to);
  const statement = `the audit log has the ${writes.length} writes that the proxy saw in the undisturbed rollout ${plan.name}`;
  await context.check(statement, () => {
    found(surplus(audited(since, until), written).join('\n'), '');
    // The audit log may record a write later than the proxy.
    return found(surplus(written, audited(since - underWayMs, Infinity)).join('\n'), '');
  });
  await context.checkNow(`the undisturbed rollout ${plan.name} complies with every rule`, () =>
    none(judgeRollout(history)),
  );
  // Writes of the previous rollout, and repeated usage statistics, depend on timing.
  return writes.map(({ key }) => key).filter((key) => !/\(before\)|injectorconfigs.* no\./.test(key));
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
