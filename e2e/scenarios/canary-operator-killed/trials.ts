import type { Trial } from './choose-targets.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import { rollOutKilled } from './kills.ts';
import type { Manner } from './manners.ts';
import type { Stage } from './rollout.ts';
import { describeWrite, type RolloutWrite } from './writes.ts';

/** A rollout may end without a write that another one has made, by the time that things take: it is tried so often to be killed there. */
const tries = 3;

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
  readonly #latest = new Map<Manner, RolloutHistory>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Rolls out and kills, until it was after the very writes that are meant. */
  async run(trial: Trial): Promise<void> {
    this.trials.push(trial);
    let missing: readonly RolloutWrite[] = trial.targets;
    for (let attempt = 0; attempt < tries && missing.length > 0; attempt += 1) {
      // One that never comes must not keep the others waiting; what a new leader writes needs one.
      const wanted = missing[attempt % missing.length];
      const targets = trial.targets.filter((each, index) => {
        return attempt === 0 || each === wanted || (index === 0 && wanted?.phase === '');
      });
      const killed = await this.#tryOut({ ...trial, targets });
      missing = missing.filter((target) => !killed.includes(target));
    }
    this.unreached.push(...missing);
  }

  /** The latest rollout of a manner; it was all right. */
  historyOf(manner: Manner): RolloutHistory {
    const history = this.#latest.get(manner);
    if (history === undefined) throw new Error(`there was no rollout ${manner.name}`);
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
    this.#latest.set(trial.manner, history);
    const faults = judgeRollout(history);
    for (const fault of faults.slice(0, 5)) context.say(fault);
    const how = trial.isRestarted ? 'restarted' : 'another leads';
    const moments = killed.map((write) => `after ${describeWrite(write)}`);
    if (deaths > killed.length) moments.push('in the middle of a timed pause');
    const what = deaths === 0 ? 'nobody was killed: it went another way' : `killed ${moments.join(', and ')}; ${how}`;
    const statement = `${trial.manner.name}, ${what}: ended as it should, ${history.writes.length} writes`;
    await context.check(statement, () => faults.length === 0, { timeout: 0 });
    return killed;
  }
}
