import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultyCluster } from './faulty-cluster.ts';

/** Most requests are refused for a while, as by an overloaded or broken API server, in the middle of an edit. */
export async function refuseRequests(cluster: FaultyCluster): Promise<void> {
  for (const status of [403, 429, 500]) {
    // Anew each time: of a configuration that is three edits old nothing is kept.
    const direct = await cluster.prepareDirect();
    const retry = status === 429 ? { retryAfterSeconds: 1 } : {};
    const storm = await cluster.proxy.fault({ match: {}, action: { kind: 'answer', status, ...retry }, share: 0.8 });
    await cluster.edit();
    await sleep(cluster.lasting(2000, 20_000));
    await cluster.checkInjecting(direct, `${status} for four of five requests`);
    const met = await storm.end();
    await cluster.context.check(`the storm met requests (${met})`, () => met > 0, { timeout: 0 });
    await cluster.checkReconverged(`${met} requests got ${status}`, Date.now());
  }
}

/** Watches that are open stay open, and nothing comes on them any more; new ones are well. */
export interface HungWatches {
  count: number;
  since: number;
  hungBefore: number;
}

/** @param resources which watches; all of them unless told */
export async function hangWatches(cluster: FaultyCluster, resources?: string[]): Promise<HungWatches> {
  const hungBefore = await cluster.watchesEnded('Hung');
  const match = { verbs: ['watch'], ...(resources === undefined ? {} : { resources }) };
  const fault = await cluster.proxy.fault({ match, action: { kind: 'hang' } });
  return { count: await fault.end(), since: Date.now(), hungBefore };
}

/** Every hung watch is noticed within a minute. Returns when the last one was, in milliseconds after it hung. */
export async function checkHungDetected(cluster: FaultyCluster, hung: HungWatches): Promise<number> {
  await cluster.context.check(
    `${hung.count} watches hang, half-open: each is noticed`,
    async () => hung.count > 0 && (await cluster.watchesEnded('Hung')) >= hung.hungBefore + hung.count,
    { timeout: 150_000 },
  );
  // Other things have happened meanwhile, so the logs say when.
  const noticed = cluster.replicas.all
    .flatMap(({ operator }) => operator.process.log().split('\n'))
    .filter((line) => line.includes('did not end when it was due'))
    .map((line) => Date.parse(line.split(' ', 1)[0] ?? '') - hung.since)
    .filter((after) => after >= 0);
  const last = Math.max(...noticed);
  const still = await cluster.standstill.between(hung.since, hung.since + last);
  await cluster.context.check(
    `the last of them after ${last} ms`,
    () => noticed.length >= hung.count && last <= 60_000 + still,
    { timeout: 0 },
  );
  return last;
}

/** Everything hangs in the middle of an edit. */
export async function hangEverything(cluster: FaultyCluster): Promise<number> {
  const direct = await cluster.prepareDirect();
  const hung = await hangWatches(cluster);
  await cluster.edit();
  await cluster.checkInjecting(direct, 'every watch hangs');
  const took = await checkHungDetected(cluster, hung);
  await cluster.checkReconverged(`${hung.count} hung watches were noticed`, Date.now());
  return took;
}
