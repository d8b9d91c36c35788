import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from '../../harness/replicas/replicas.ts';
import { none, waitFor } from '../../harness/wait-for.ts';
import type { Trial } from './choose-targets.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import type { Plan } from './plans.ts';
import { rollOut, type Stage } from './rollout.ts';
import { describeWrite, renewalsSince, WriteReader, type RolloutWrite } from './writes.ts';

/** The number of extra rollouts for a write that did not occur, because it depends on timing. */
const triesAlone = 2;

/** Runs rollouts in which leaders are killed, and judges each of them. */
export class Trials {
  readonly trials: Trial[] = [];
  readonly killed: RolloutWrite[] = [];
  readonly unreached: RolloutWrite[] = [];
  count = 0;
  deaths = 0;
  slowestMilliseconds = 0;
  readonly #stage: Stage;
  readonly #latest = new Map<Plan, RolloutHistory>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async run(trial: Trial): Promise<void> {
    this.trials.push(trial);
    const killed = new Set(await this.#tryOut(trial));
    for (let attempt = 0; attempt < triesAlone; attempt += 1) {
      // Target each missing write in its own rollout: a write that never occurs blocks later ones.
      for (const target of trial.targets.filter((target) => !killed.has(target))) {
        const targets = trial.targets.filter((each, index) => each === target || (index === 0 && target.phase === ''));
        for (const write of await this.#tryOut({ ...trial, targets })) killed.add(write);
      }
    }
    this.unreached.push(...trial.targets.filter((target) => !killed.has(target)));
  }

  historyOf(plan: Plan): RolloutHistory {
    const history = this.#latest.get(plan);
    if (history === undefined) throw new Error(`there was no rollout ${plan.name}`);
    return history;
  }

  async #tryOut(trial: Trial): Promise<readonly RolloutWrite[]> {
    const { context } = this.#stage;
    const began = Date.now();
    const { history, killed, deaths } = await rollOutKilled(this.#stage, trial);
    this.slowestMilliseconds = Math.max(this.slowestMilliseconds, Date.now() - began);
    this.count += 1;
    this.deaths += deaths;
    this.killed.push(...killed);
    this.#latest.set(trial.plan, history);
    const how = trial.isRestarted ? 'was restarted' : 'was replaced by another leader';
    const moments = killed.map((write) => `after ${describeWrite(write)}`);
    if (deaths > killed.length) moments.push('in the middle of a timed pause');
    const what =
      deaths === 0
        ? 'without a kill (the write did not occur)'
        : `the leader was killed ${moments.join(', ')}, and ${how}`;
    const statement = `rollout ${trial.plan.name}, ${what}: it ended as planned, with ${history.writes.length} writes`;
    await context.checkNow(statement, () => none(judgeRollout(history)));
    return killed;
  }
}

/** The number of Deployments whose pods are being recreated when a new leader starts. */
const unseen = 3;
/** The fraction of a timed pause before the kill. Late kills make a repeated pause detectable. */
const latePart = 0.85;

/** Runs a rollout. Kills the leader after each target write, before it receives the response. */
async function rollOutKilled(stage: Stage, trial: Trial) {
  const killer = new Killer(stage, trial);
  const killing = killer.killAll();
  // The rejection is awaited after the rollout; do not report it as unhandled.
  killing.catch(() => undefined);
  try {
    const history = await rollOut(stage, trial.plan, {
      deaths: killer.deaths,
      settled: async () => {
        killer.end();
        await killing;
        await killer.waitForLeader();
      },
      meanwhile: async ({ pauseSeconds }) => {
        if (trial.isKilledInPause === true && pauseSeconds !== undefined) await killer.killAfter(pauseSeconds * 1000);
        return undefined;
      },
    });
    return { history, killed: killer.killed, deaths: killer.deaths.length };
  } finally {
    killer.end();
    await killing;
    await killer.restartAll();
  }
}

class Killer {
  /** The times of the kills, in milliseconds since 1970. */
  readonly deaths: number[] = [];
  readonly killed: RolloutWrite[] = [];
  readonly #stage: Stage;
  readonly #trial: Trial;
  readonly #ended = new AbortController();
  readonly #dead = new Set<Replica>();
  #striking: Promise<void> = Promise.resolve();

  constructor(stage: Stage, trial: Trial) {
    this.#stage = stage;
    this.#trial = trial;
  }

  /** Resolves after the kills for all targets; rejects if another client made a target write. */
  async killAll(): Promise<void> {
    const { replicas, workloads } = this.#stage;
    const { targets, plan } = this.#trial;
    const isOver = new Promise<undefined>((resolve) => {
      this.#ended.signal.addEventListener('abort', () => {
        resolve(undefined);
      });
    });
    const reader = new WriteReader();
    let held = await this.#hold(reader, targets[0]);
    try {
      for (const [index, target] of targets.entries()) {
        const reached = await Promise.race([held.reached, isOver]);
        if (reached === undefined) return;
        const leader = replicas.controllers.find(({ name }) => reached.userAgent.includes(name));
        if (leader === undefined) throw new Error(`${describeWrite(target)} was not made by a controller`);
        const before = held;
        held = await this.#hold(reader, targets[index + 1]);
        await this.#strike(leader, async () => {
          this.killed.push(target);
          // Workloads that the operator restarts need no disturbance.
          if (plan.isRestarting !== true && plan.end !== 'PodsFailing') await workloads.disturb(unseen);
          await before.release();
        });
      }
    } finally {
      await held.release();
    }
  }

  async killAfter(time: number): Promise<void> {
    await sleep(time * latePart);
    await this.#strike(await this.#stage.replicas.waitForLeader(), () => Promise.resolve());
  }

  end(): void {
    this.#ended.abort();
  }

  async waitForLeader(): Promise<void> {
    const last = this.deaths.at(-1);
    if (last === undefined) return;
    const leads = async () => (await renewalsSince(this.#stage.replicas, last)).some((at) => at > last);
    await waitFor('a new leader after the last kill', leads);
  }

  async restartAll(): Promise<void> {
    await this.#striking;
    for (const replica of this.#dead) await replica.operator.restart();
    this.#dead.clear();
  }

  /** Kills a leader. Concurrent calls run one after the other. */
  #strike(leader: Replica, afterwards: () => Promise<void>): Promise<void> {
    const strike = async (): Promise<void> => {
      this.deaths.push(await this.#stage.replicas.kill(leader));
      await afterwards();
      if (this.#trial.isRestarted) await leader.operator.restart();
      else this.#dead.add(leader);
    };
    const struck = this.#striking.then(strike);
    this.#striking = struck.catch(() => undefined);
    return struck;
  }

  #hold(reader: WriteReader, target: RolloutWrite | undefined) {
    const { proxy } = this.#stage.replicas;
    const resources = this.#trial.targets.map(({ resource }) => resource.split('/')[0] ?? '');
    return proxy.holdFirst(
      { resources: [...new Set([...readable, ...resources])], verbs: ['create', 'update', 'patch', 'delete'] },
      (write) => {
        const read = reader.read(write);
        return read !== undefined && target !== undefined && reader.isAwaited(read, target);
      },
    );
  }
}

/** The resources whose writes are always parsed, because they determine the phase. */
const readable = ['revisiontags', 'mutatingwebhookconfigurations'];
