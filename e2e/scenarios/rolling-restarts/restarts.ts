import type { Replica } from '../../harness/replicas/replica.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { Losses } from '../../harness/load/losses.ts';

/**
 * Every process is restarted `rounds` times, one webhook replica at a time and one controller at a time: in turn by a successor in a pod of its own (a rolling
 * update) and in the same pod (a container that ended). Returns how many restarts there were.
 */
export async function restartEach(
  context: ScenarioContext,
  replicas: Replicas,
  losses: Losses,
  rounds: number,
): Promise<number> {
  const since = Date.now();
  let restarts = 0;
  const roll = async (list: Replica[]) => {
    for (let round = 0; round < rounds; round++) {
      for (const [index, replica] of [...list].entries()) {
        if ((round + index) % 2 === 0) await replicas.replace(replica);
        else await replicas.restart(replica);
        restarts++;
      }
    }
  };
  await Promise.all([roll(replicas.webhooks), roll(replicas.controllers)]);
  await replicas.waitUntilServing();
  await losses.checkNone(`${restarts} restarts, each process ${rounds} times`, since);
  await context.check('somebody leads', () => replicas.leader(), { timeout: 40_000 });
  return restarts;
}
