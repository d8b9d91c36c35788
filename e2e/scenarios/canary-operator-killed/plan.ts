import { found } from '../../harness/found.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import type { Manner } from './manners.ts';
import { rollOut, type Stage } from './rollout.ts';
import { auditedWrites, describeWrite, phaseBefore, type RolloutWrite } from './writes.ts';

/** A rollout that nobody disturbs. */
export interface Plan {
  /** What belongs to it: neither what was left of the one before, nor who uses what, which is counted at any time. */
  readonly writes: readonly RolloutWrite[];
  readonly history: RolloutHistory;
}

/** Rolls out undisturbed. */
export async function planOf(stage: Stage, manner: Manner): Promise<Plan> {
  const { context, replicas, audit } = stage;
  const since = Date.now();
  const history = await rollOut(stage, manner);
  const { writes } = history;
  for (const write of writes) context.say(describeWrite(write));
  const until = writes.at(-1)?.at ?? since;
  const written = writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`).sort();
  await context.check(`an undisturbed rollout ${manner.name}: ${writes.length} writes, the same in the audit log`, () =>
    found(written.join('\n'), auditedWrites(replicas, audit.events(), { since, until }).sort().join('\n')),
  );
  const faults = judgeRollout(history);
  for (const fault of faults) context.say(fault);
  const statement = 'it ends as it should, each step after its evidence, and nothing is done twice';
  await context.check(statement, () => faults.length === 0, { timeout: 0 });
  return { writes: writes.filter(({ phase }) => phase !== '' && phase !== phaseBefore), history };
}
