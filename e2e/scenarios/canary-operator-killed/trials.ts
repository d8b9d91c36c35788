import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from '../../harness/replicas/replicas.ts';
import { none, waitFor } from '../../harness/wait-for.ts';
import type { Trial } from './choose-targets.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import type { Plan } from './plans.ts';
import { rollOut, type Stage } from './rollout.ts';
import { describeWrite, renewalsSince, WriteReader, type RolloutWrite } from './writes.ts';

/** A rollout may end without a write that another one has made, by the time that things take: so often each is awaited by itself. */
const triesAlone = 2;

/** Rollouts in which leaders are killed, one after the other; each is judged. */
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
      // One that never comes must not keep the others waiting; what a new leader writes needs one.
      for (const wanted of trial.targets.filter((target) => !killed.has(target))) {
        const targets = trial.targets.filter((each, index) => each === wanted || (index === 0 && wanted.phase === ''));
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
    const how = trial.isRestarted ? 'restarted' : 'another leads';
    const moments = killed.map((write) => `after ${describeWrite(write)}`);
    if (deaths > killed.length) moments.push('in the middle of a timed pause');
    const what = deaths === 0 ? 'nobody was killed: it went another way' : `killed ${moments.join(', and ')}; ${how}`;
    const statement = `${trial.plan.name}, ${what}: ended as it should, ${history.writes.length} writes`;
    await context.checkNow(statement, () => none(judgeRollout(history)));
    return killed;
  }
}

/** Deployments whose pods are being made again when the next leader begins to look: it cannot see them. */
const unseen = 3;
/** So much of a timed pause is over when a leader is killed in the middle of it: one that begins again would last far too long. */
const latePart = 0.85;

/** Rolls out, and kills the leader when the API server has done each of these writes and before it knows. */
async function rollOutKilled(stage: Stage, trial: Trial) {
  const killer = new Killer(stage, trial);
  const killing = killer.killAll();
  // It is waited for in any case, but only when the rollout has ended.
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
  /** When they died. Milliseconds since 1970. */
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

  /** Resolves when there is nothing more to wait for; rejects when a write was done by somebody else. */
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
        if (leader === undefined) throw new Error(`${describeWrite(target)} was not done by a controller`);
        const before = held;
        held = await this.#hold(reader, targets[index + 1]);
        await this.#strike(leader, async () => {
          this.killed.push(target);
          // What is made again by itself needs no restart.
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
    await waitFor('somebody to lead after the last death', leads);
  }

  async restartAll(): Promise<void> {
    await this.#striking;
    for (const replica of this.#dead) await replica.operator.restart();
    this.#dead.clear();
  }

  /** One after the other, whoever asks for it. */
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

/** Always read: they say where the rollout stands. */
const readable = ['revisiontags', 'mutatingwebhookconfigurations'];
