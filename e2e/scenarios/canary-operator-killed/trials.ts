import { setTimeout as sleep } from 'node:timers/promises';
import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { judgeRollout } from '../../../src/operator/rollout/testdata/rollout-rules.ts';
import { controllerWrites } from '../../harness/faulty-proxy/passed-writes.ts';
import { LeaderKiller } from '../../harness/replicas/leader-killer.ts';
import { none, waitFor } from '../../harness/wait-for.ts';
import { aborted, byOperator, type Plan } from './plans.ts';
import { rollOut, type Stage } from './rollout.ts';
import { tag, WriteReader } from './writes.ts';

export interface Trial {
  readonly plan: Plan;
  /** The writes after which the leader is killed, by their keys. */
  readonly targets: readonly string[];
  /** Whether the killed leader restarts immediately, or only after another controller leads. */
  readonly isRestarted: boolean;
  /** Whether a leader is also killed near the end of a timed pause. */
  readonly isKilledInPause?: true;
}

const webhook = tagWebhookConfiguration(tag);
const probe = `sidecar-injector-probe-tag-${tag}`;

/** The trials of the short size: one kill for each kind of write, and one after an abort. */
export const shortTrials: readonly Trial[] = [
  {
    plan: byOperator,
    targets: [
      'patch deployments * (25 %)',
      `create configmaps ${probe} (25 % Paused/UntilResumed)`,
      `delete mutatingwebhookconfigurations ${probe} (25 % Paused/UntilResumed)`,
      `patch mutatingwebhookconfigurations ${webhook} (Promoted/Promoted)`,
      // Each new leader makes this write at any time.
      'patch injectorconfigs/status * ()',
    ],
    isRestarted: true,
  },
  { plan: aborted(3), targets: [`patch revisiontags/status ${tag} (RolledBack/Aborted)`], isRestarted: true },
];

/** The maximum number of kills per rollout; small, so that each new leader makes progress. */
const perRollout = 4;

/**
 * Returns trials with a kill after every write. They also cover a kill before each write, because
 * the API server then has the same state as after the previous write. In further trials, another
 * controller continues after one kill.
 */
export function everyTrial(plan: Plan, targets: readonly string[]): Trial[] {
  const count = Math.ceil(targets.length / perRollout);
  return Array.from({ length: count }, (_, rollout) => targets.filter((_, index) => index % count === rollout)).flatMap(
    (own): Trial[] => [
      { plan, targets: own, isRestarted: true, isKilledInPause: true },
      { plan, targets: own.slice(0, 1), isRestarted: false },
    ],
  );
}

/** Returns the kind of a write: the object and the phase, independent of the step. */
export function kindOf(key: string): string {
  return key.replace(/\((\d+ % )/, '(').replace(/ no\. \d+$/, '');
}

/** Reports whether the operator may skip this write: it does so if all pods are already ready. */
export function mayBeSkipped(key: string): boolean {
  return /revisiontags\/status .*\/(?:NotEnoughPods|WatchingPods|ComparingPods)\)/.test(key);
}

/** The number of extra rollouts for writes that did not occur, because they depend on timing. */
const extraTries = 2;
/** The number of Deployments whose pods are being recreated when a new leader starts. */
const unseen = 3;
/** The fraction of a timed pause before the kill. Late kills make a repeated pause detectable. */
const latePart = 0.85;

/** Runs rollouts in which leaders are killed, and judges each of them. */
export class Trials {
  readonly killed = new Set<string>();
  readonly unreached: string[] = [];
  count = 0;
  deaths = 0;
  slowestMilliseconds = 0;
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async run(trial: Trial): Promise<void> {
    let left = new Set(trial.targets);
    for (let attempt = 0; attempt <= extraTries && left.size > 0; attempt += 1)
      left = await this.#tryOut({ ...trial, targets: [...left] });
    this.unreached.push(...left);
  }

  /** Kills the leader after each target, before its response arrives. Returns missed targets. */
  async #tryOut({ plan, targets, isRestarted, isKilledInPause }: Trial): Promise<Set<string>> {
    const { context, replicas, workloads } = this.#stage;
    const began = Date.now();
    const left = new Set(targets);
    const reader = new WriteReader();
    const killer = await LeaderKiller.start(replicas, {
      isRestarted,
      isFatal: (write) => left.delete(reader.read(write)?.key ?? ''),
      afterwards: async () => {
        // Workloads that the operator restarts need no disturbance.
        if (plan.isRestarting !== true && plan.end !== 'PodsFailing') await workloads.disturb(unseen);
      },
    });
    const history = await rollOut(this.#stage, plan, {
      deaths: killer.deaths,
      settled: async () => {
        await killer.end();
        const last = killer.deaths.at(-1);
        if (last === undefined) return;
        // The Lease may still name the dead leader.
        await waitFor('a new leader', async () =>
          (await controllerWrites(replicas, last + 1)).some(({ name }) => name === 'injector-leader-default'),
        );
      },
      meanwhile: async ({ pauseSeconds }) => {
        if (isKilledInPause !== true || pauseSeconds === undefined) return;
        await sleep(pauseSeconds * 1000 * latePart);
        await killer.strike(await replicas.waitForLeader());
      },
    }).finally(() => killer.end());
    this.slowestMilliseconds = Math.max(this.slowestMilliseconds, Date.now() - began);
    this.count += 1;
    this.deaths += killer.deaths.length;
    const killed = targets.filter((target) => !left.has(target));
    for (const target of killed) this.killed.add(target);
    const moments = killed.map((target) => `after ${target}`);
    if (killer.deaths.length > killed.length) moments.push('in the middle of a timed pause');
    const how = isRestarted ? 'was restarted' : 'was replaced by another leader';
    const what =
      moments.length === 0
        ? 'without a kill (the write did not occur)'
        : `the leader was killed ${moments.join(', ')}, and ${how}`;
    const statement = `rollout ${plan.name}, ${what}: it ended as planned, with ${history.writes.length} writes`;
    await context.checkNow(statement, () => none(judgeRollout(history)));
    return left;
  }
}
