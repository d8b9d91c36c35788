import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../../scripts/template-recorder/random.ts';
import type { Published } from './published.ts';

/** How many edits of each kind there were. */
export interface Edits {
  good: number;
  broken: number;
  back: number;
}

/** Edits one InjectorConfig again and again: new marks, old ones, broken ones; some are waited for, some overtake each other. */
export async function editManyTimes(published: Published, count: number, seed: number): Promise<Edits> {
  const random = new Random(seed);
  const edits: Edits = { good: 0, broken: 0, back: 0 };
  const earlier: string[] = ['first'];
  for (let index = 1; index <= count; index++) {
    const isWaitedFor = random.chance(0.5);
    const choice = random.next();
    if (choice < 0.25) {
      edits.broken++;
      await published.askBroken(random.below(3));
      if (isWaitedFor) await published.waitForRefusal();
    } else {
      const isBack = choice < 0.5;
      edits[isBack ? 'back' : 'good']++;
      const mark = isBack ? random.pick(earlier) : `edit${index}`;
      earlier.push(mark);
      await published.ask(mark);
      if (isWaitedFor) await published.waitFor(mark);
    }
    if (!isWaitedFor) await sleep(random.below(400));
  }
  return edits;
}

/** After a broken edit the webhook stays where it is; taking it back is a rollback to the very configuration of before. */
export async function checkBrokenAndBack(published: Published): Promise<void> {
  const { context } = published;
  await published.ask('stable');
  const stable = await published.waitFor('stable');
  await published.askBroken(0);
  await published.waitForRefusal();
  await context.check('a broken edit is refused, and pods go on as before', async () => {
    return (await published.hash()) === stable && (await published.shown()) === 'stable';
  });
  await published.ask('next');
  const next = await published.waitFor('next');
  await context.check('the next good one is published', () => next !== stable, { timeout: 0 });
  await published.ask('stable');
  const back = await published.waitFor('stable');
  await context.check('editing back is a rollback: the same configuration as before', () => back === stable, {
    timeout: 0,
  });
}
