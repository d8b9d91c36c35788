import { setTimeout as sleep } from 'node:timers/promises';
import type { Losses } from '../../harness/load/losses.ts';
import type { Replica } from '../../harness/replicas/replica.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { Published } from './published.ts';

/** A replica that cannot load what is new holds the publication up until it can; until then everybody shows the old. */
export async function checkLateReplica(published: Published, replicas: Replicas, losses: Losses): Promise<void> {
  const { context } = published;
  const late = at(replicas.webhooks, 0);
  const since = Date.now();
  await published.ask('beforelate');
  await published.waitFor('beforelate');
  const match = { client: late.name, verbs: ['list', 'watch'], resources: ['configmaps'] };
  const cut = await replicas.proxy?.fault({ match, action: { kind: 'cut' } });
  await published.ask('late');
  await context.check('one replica cannot load an edit: the webhook waits for it, by name', async () => {
    const reason = await published.reason();
    return reason.startsWith('WaitingForReplicas') && reason.includes(late.name);
  });
  await sleep(1500);
  await context.checkNow('and pods show what was there before', async () => (await published.shown()) === 'beforelate');
  const met = await cut?.end();
  const ended = Date.now();
  await published.waitFor('late');
  await context.checkNow(
    `it can again (${met ?? 0} attempts met the fault): published ${Date.now() - ended} ms later`,
    () => (met ?? 0) > 0,
  );
  await losses.checkNone('a late replica', since);
}

export interface FrozenReplica {
  lost: number;
  /** At most so many: the connections that the API server had to it, or made before the balancer dropped it. */
  connections: number;
  publishedAfterMilliseconds: number;
}

/**
 * A replica that is frozen holds the publication up until its Lease has expired; thawed, it knows nothing of what is published and says so, and never answers
 * with anything else.
 */
export async function checkFrozenReplica(
  published: Published,
  replicas: Replicas,
  losses: Losses,
): Promise<FrozenReplica> {
  const { context } = published;
  const frozen = at(replicas.webhooks, 1);
  const froze = Date.now();
  frozen.operator.process.freeze();
  await published.ask('frozen');
  const { open } = await replicas.balancer.stuckOn(frozen.name, froze);
  const rest = replicas.webhooks.filter((each) => each !== frozen).map(({ name }) => name);
  await replicas.balancer.waitForRotation(rest);
  await published.waitFor('frozen', 60_000);
  const publishedAfterMilliseconds = Date.now() - froze;
  // What hangs on it fails when its time is up, and nothing new goes there.
  await sleep(5500);
  const thawed = Date.now();
  frozen.operator.process.unfreeze();
  await replicas.waitUntilServing();
  await losses.checkNone('it goes on, late, and corrupts nothing', { askedSince: thawed });
  const { lost } = losses.report({ answeredSince: froze, askedBefore: thawed });
  await context.checkNow(
    `a replica is frozen: an edit is published without it after ${publishedAfterMilliseconds} ms; ${lost.length} lost, at most the ${open} that were connected to it`,
    () => lost.length <= open && lost.every(({ kind }) => kind === 'refused'),
  );
  return { lost: lost.length, connections: open, publishedAfterMilliseconds };
}

function at(replicas: Replica[], index: number): Replica {
  const found = replicas[index];
  if (found === undefined) throw new Error(`there is no webhook replica ${index}`);
  return found;
}
