import type { RolloutHistory } from './judge.ts';
import type { Trial } from './choose-targets.ts';
import { rollOut, type Direction, type Stage } from './rollout.ts';
import { describeWrite, WriteReader, type RolloutWrite } from './writes.ts';

/** Deployments whose pods are being made anew when the next leader begins to look: it cannot see them. */
const unseen = 3;

/** What became of a rollout whose leaders were killed. */
export interface KilledRollout {
  readonly history: RolloutHistory;
  /** The writes after which a leader was killed; a rollout may come to its end without one of them, by the time that things take. */
  readonly killed: readonly RolloutWrite[];
}

/**
 * Rolls out, and kills the leader when the API server has done each of these writes and before it knows.
 */
export async function rollOutKilled(
  stage: Stage,
  direction: Direction,
  { targets, isRestarted, manner }: Trial,
): Promise<KilledRollout> {
  const { replicas, workloads } = stage;
  const { proxy } = replicas;
  if (proxy === undefined) throw new Error('this scenario needs a proxy before the API server');
  const resources = [...new Set(targets.map(({ resource }) => resource.split('/')[0] ?? ''))];
  const reader = new WriteReader();
  const holdNext = (target: RolloutWrite | undefined) => {
    const description = target && describeWrite(target);
    return proxy.holdFirst(
      { resources: [...readable, ...resources], verbs: ['create', 'update', 'patch', 'delete'] },
      (write) => {
        const read = reader.read(write);
        return read !== undefined && describeWrite(read) === description;
      },
    );
  };
  const killed: RolloutWrite[] = [];
  const ended = new AbortController();
  const isOver = new Promise<undefined>((resolve) => {
    ended.signal.addEventListener('abort', () => {
      resolve(undefined);
    });
  });
  let held = await holdNext(targets[0]);
  const kill = async (): Promise<void> => {
    for (const [index, target] of targets.entries()) {
      const reached = await Promise.race([held.reached, isOver]);
      if (reached === undefined) return held.release();
      const leader = replicas.controllers.find(({ name }) => reached.userAgent.includes(name));
      if (leader === undefined) throw new Error(`${describeWrite(target)} was not done by a controller`);
      const before = held;
      held = await holdNext(targets[index + 1]);
      await replicas.kill(leader);
      killed.push(target);
      // What is made anew by itself needs no restart.
      if (!manner.isRestarting) await workloads.disturb(unseen);
      await before.release();
      if (isRestarted) await leader.operator.restart();
      else restarts.push(() => leader.operator.restart());
    }
    await held.release();
  };
  const restarts: (() => Promise<void>)[] = [];
  const killing = kill();
  try {
    const history = await rollOut(stage, direction, manner);
    return { history, killed };
  } finally {
    ended.abort();
    await killing;
    for (const restart of restarts) await restart();
  }
}

/** Always read: they say where the rollout stands. */
const readable = ['revisiontags', 'mutatingwebhookconfigurations'];
