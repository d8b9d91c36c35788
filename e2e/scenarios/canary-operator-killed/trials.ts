import type { Trial } from './choose-targets.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import { rollOutKilled } from './kills.ts';
import type { Plan } from './plans.ts';
import type { Stage } from './rollout.ts';
import { describeWrite, type RolloutWrite } from './writes.ts';

/** A rollout may end without a write that another one has made, by the time that things take: so often each is awaited by itself. */
const triesAlone = 2;

/** Rollouts in which leaders are killed, one after the other; each is judged. */
export class Trials {
  /** Those that were run. */
  readonly trials: Trial[] = [];
  /** The writes after which a leader was killed. */
  readonly killed: RolloutWrite[] = [];
  /** Those that did not come again. */
  readonly unreached: RolloutWrite[] = [];
  /** How many rollouts there were. */
  count = 0;
  /** How many leaders were killed. */
  deaths = 0;
  slowestMilliseconds = 0;
  readonly #stage: Stage;
  readonly #latest = new Map<Plan, RolloutHistory>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Rolls out and kills, until it was after the very writes that are meant. */
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

  /** The latest rollout of a plan; it was all right. */
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
    const faults = judgeRollout(history);
    for (const fault of faults.slice(0, 5)) context.say(fault);
    const how = trial.isRestarted ? 'restarted' : 'another leads';
    const moments = killed.map((write) => `after ${describeWrite(write)}`);
    if (deaths > killed.length) moments.push('in the middle of a timed pause');
    const what = deaths === 0 ? 'nobody was killed: it went another way' : `killed ${moments.join(', and ')}; ${how}`;
    const statement = `${trial.plan.name}, ${what}: ended as it should, ${history.writes.length} writes`;
    await context.checkNow(statement, () => faults.length === 0);
    return killed;
  }
}
