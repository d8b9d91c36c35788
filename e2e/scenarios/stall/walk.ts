import type { Figures } from '../../../bench/report.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { WorkerHandle } from '../../harness/worker/worker-handle.ts';
import { slowestFirst } from './attack-report.ts';
import type { AttackMethods, HostileReview } from './attack-worker.ts';
import { longestDelay } from './event-loop.ts';

/** Milliseconds for which one review may keep the main thread. */
const most = 100;
/** What a class does it does each time; what the machine does beside it, it does not. */
const attempts = 4;

interface Walk {
  readonly attacker: WorkerHandle<AttackMethods>;
  readonly operator: OperatorProcess;
  /** The namespaces of hostile pods, one for each InjectorConfig. */
  readonly hostile: readonly string[];
  readonly reviews: readonly HostileReview[];
  /** How many of the slowest classes. */
  readonly count: number;
}

/** Creates the slowest classes one by one, and checks that none keeps the main thread for long in any of several attempts. */
export async function walkSlowest(
  context: ScenarioContext,
  { attacker, operator, hostile, reviews, count }: Walk,
): Promise<{ description: string; figures: Figures }> {
  const worst = { name: 'none', namespace: '', milliseconds: 0 };
  const tooLong: string[] = [];
  const chosen = slowestFirst(reviews).slice(0, count);
  for (const { name } of chosen) {
    for (const namespace of hostile) {
      let least = Infinity;
      for (let attempt = 0; attempt < attempts && least > most / 2; attempt++) {
        await longestDelay(operator);
        await attacker.call('one', name, namespace, true);
        least = Math.min(least, await longestDelay(operator));
      }
      if (least > most) tooLong.push(`${name} in ${namespace}: ${least} ms`);
      if (least > worst.milliseconds) Object.assign(worst, { name, namespace, milliseconds: least });
    }
  }
  await context.check(
    `of the ${chosen.length} slowest classes none keeps the main thread longer than ${most} ms (${worst.milliseconds} ms at most)`,
    () => {
      if (tooLong.length > 0) throw new Error(tooLong.join('; '));
      return true;
    },
    { timeout: 0 },
  );
  const { name, namespace, milliseconds } = worst;
  return {
    description: `${name}, ${milliseconds} ms`,
    figures: { classes: chosen.length, slowestClass: `${name} in ${namespace}`, mainThreadMilliseconds: milliseconds },
  };
}
