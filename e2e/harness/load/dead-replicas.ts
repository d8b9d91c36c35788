import { setTimeout as sleep } from 'node:timers/promises';
import type { Replicas } from '../replicas/replicas.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import type { Losses } from './losses.ts';

/** The negative control: with every webhook replica dead creations are refused, and it is seen; with them back they are not. */
export async function checkDeadReplicas(context: ScenarioContext, replicas: Replicas, losses: Losses): Promise<void> {
  await sleep(1000);
  const since = Date.now();
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  await context.check('every webhook replica is killed: creations are refused, and it is seen', () => {
    const { lost } = losses.report(since);
    return lost.some(({ kind }) => kind === 'refused') && !lost.some(({ kind }) => kind !== 'refused');
  });
  context.say(`lost while nobody served: ${losses.report(since).lost.length}`);
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
  await losses.checkNone('they are back', { askedSince: Date.now() });
}
