import type { Figures } from '../../../bench/report.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { WorkerHandle } from '../../harness/worker/worker-handle.ts';
import { slowestFirst } from './attack-report.ts';
import type { AttackMethods, HostileReview } from './attack-worker.ts';
import type { MainThread } from './main-thread.ts';

/** Milliseconds for which one review may keep the main thread. */
const most = 100;
/** What a class costs it costs each time; a Lease or a collection of garbage it does not. */
const attempts = 4;

interface Walk {
  readonly attacker: WorkerHandle<AttackMethods>;
  readonly thread: MainThread;
  /** The namespaces of hostile pods, one for each InjectorConfig. */
  readonly hostile: readonly string[];
  readonly reviews: readonly HostileReview[];
  /** How many of the slowest classes. */
  readonly count: number;
}

/** Creates the slowest classes one by one, and checks that none keeps the main thread for long in any of several attempts. */
export async function walkSlowest(
  context: ScenarioContext,
  { attacker, thread, hostile, reviews, count }: Walk,
): Promise<{ description: string; figures: Figures }> {
  const worst = { name: 'none', namespace: '', milliseconds: 0 };
  const tooLong: string[] = [];
  const chosen = slowestFirst(reviews).slice(0, count);
  for (const { name } of chosen) {
    for (const namespace of hostile) {
      let least = Infinity;
      for (let attempt = 0; attempt < attempts && least > most / 2; attempt++) {
        const before = thread.ran();
        await attacker.call('one', name, namespace, true);
        least = Math.min(least, Math.round(thread.ran() - before));
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
