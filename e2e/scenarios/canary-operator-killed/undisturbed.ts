import { found } from '../../harness/wait-for.ts';
import type { RolloutHistory } from './history.ts';
import { judgeRollout } from './judge.ts';
import type { Plan } from './plans.ts';
import { rollOut, type Stage } from './rollout.ts';
import { auditedWrites, describeWrite, phaseBefore, type RolloutWrite } from './writes.ts';

/** A rollout that nobody disturbs. */
export interface Undisturbed {
  /** What belongs to it: neither what was left of the one before, nor who uses what, which is counted at any time. */
  readonly writes: readonly RolloutWrite[];
  readonly history: RolloutHistory;
}

/** A write that was asked for before a rollout began, and answered after, is on one side of that or on the other. Milliseconds. */
const underWayMs = 5000;

/** Rolls out undisturbed. */
export async function rollOutUndisturbed(stage: Stage, plan: Plan): Promise<Undisturbed> {
  const { context, replicas, audit } = stage;
  const since = Date.now();
  const history = await rollOut(stage, plan);
  const { writes } = history;
  for (const write of writes) context.say(describeWrite(write));
  const until = writes.at(-1)?.at ?? since;
  const written = writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  const audited = (from: number) => auditedWrites(replicas, audit.events(), { since: from, until });
  const statement = `an undisturbed rollout ${plan.name}: ${writes.length} writes, the same in the audit log`;
  await context.check(statement, () => {
    found(surplus(audited(since), written).join('\n'), '');
    return found(surplus(written, audited(since - underWayMs)).join('\n'), '');
  });
  const faults = judgeRollout(history);
  for (const fault of faults) context.say(fault);
  await context.checkNow(
    'it ends as it should, each step after its evidence, and nothing is done twice',
    () => faults.length === 0,
  );
  return { writes: writes.filter(({ phase }) => phase !== '' && phase !== phaseBefore), history };
}

/** Those of some texts that are not among others, as often as they are not. */
function surplus(texts: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return texts.filter((text) => {
    const index = left.indexOf(text);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}
