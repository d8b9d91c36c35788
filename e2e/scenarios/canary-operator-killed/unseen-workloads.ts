import type { RolloutState } from '../../../src/api/rollout-status.ts';
import { countingReason } from '../../../src/rollout/hold.ts';
import { waitForRollout } from '../canary/shop.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import { byPerson } from './manners.ts';
import { rollOut, type Stage } from './rollout.ts';
import { tag } from './writes.ts';

const gone = 2;

/** A leader that begins to look while some workloads have no pods, and cannot see them: the next share waits for them. */
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
  const faults = judgeRollout(history);
  for (const fault of faults) context.say(fault);
  await context.check(
    `a new leader that sees ${workloads.names.length - gone} of ${workloads.names.length} workloads begins no share before it has seen them all`,
    () => faults.length === 0,
    { timeout: 0 },
  );
  return history;
}
