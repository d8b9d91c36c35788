import type { Scenario } from '../harness/scenario-context.ts';
import { startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { checkBundleWithoutOverlap, checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

export const rotationUnderLoad: Scenario = {
  name: 'rotation-under-load',
  about:
    'rotations of CAs and serving certificates under load lose no pod creation while the API server opens new connections, and an observer never sees a certificate that the CA bundle does not verify',
  full: '30 authorities and 200 serving certificates are rotated, with at least 20 handshakes per second by the API server, about 8 minutes',
  run: async (context) => {
    const isFull = context.size === 'full';
    const size = isFull ? { perSecond: 45 } : { perSecond: 15, webhooks: 2, controllers: 1 };
    const cluster = await startRotatingCluster(context, { name: 'rotating', ...size });
    const { observer, losses } = cluster;
    const controls = await takeOver(cluster, async () => ({
      lostByLeafFirst: await checkLeafBeforeBundle(cluster),
      lostWithoutOverlap: await checkBundleWithoutOverlap(cluster),
    }));

    const since = Date.now();
    const before = observer.handshakes;
    const goal = isFull ? { authorities: 30, leaves: 200 } : { authorities: 2, leaves: 3 };
    const { authorities, leaves, uncounted } = await rotateManyTimes(cluster, goal);
    await checkForcedRetirement(cluster);
    const until = Date.now();
    const still = await cluster.standstill.between(since, until);
    const handshakes = await cluster.apiServerHandshakes(since);
    const perSecondMade = Math.round((10_000 * handshakes) / (until - since)) / 10;
    await losses.checkNone(`during rotations of ${authorities} authorities and ${leaves} serving certificates`, since);
    const observed = observer.handshakes - before;
    for (const { description } of observer.violationsSince(since).slice(0, 5)) context.say(description);
    await context.checkNow(
      `in ${observed} handshakes of the observer, the live CA bundle verified every certificate`,
      () =>
        observed > 0 &&
        observer.violationsSince(since).length === 0 &&
        [...observer.leaves.values()].every(({ issuer, lastSeen }) => issuer !== undefined || lastSeen < since),
    );
    // Machines that run the short size are busy with other work.
    const least = isFull ? 20 : 2;
    await context.checkNow(
      `the API server made ${handshakes} handshakes (${perSecondMade} per second), at least ${least} per second apart from stalls`,
      () => handshakes > 0 && handshakes >= (least * (until - since - still)) / 1000,
    );
    await cluster.load.stop();
    const { created, p50Milliseconds, p99Milliseconds } = losses.report(since);
    context.measured({ ...controls, authorities, leaves, uncounted, created, lost: 0 });
    context.measured({ apiServerHandshakes: handshakes, apiServerHandshakesPerSecond: perSecondMade });
    const { mostAuthorities } = observer;
    context.measured({ observerHandshakes: observed, violations: 0, mostAuthoritiesInBundle: mostAuthorities });
    context.measured({ p50Milliseconds, p99Milliseconds });
    return `${authorities} authorities and ${leaves} serving certificates rotated with ${handshakes} handshakes by the API server (${perSecondMade} per second) and ${observed} by the observer; ${created} pods created, 0 lost; negative controls: ${controls.lostByLeafFirst} lost when the leaf came before the bundle, ${controls.lostWithoutOverlap} when bundles did not overlap`;
  },
};

async function rotateManyTimes(cluster: RotatingCluster, goal: { authorities: number; leaves: number }) {
  // Rotations in which the API server opened no connection do not count, as they prove nothing.
  const done = { authorities: 0, leaves: 0, uncounted: 0 };
  const share = goal.leaves / goal.authorities;
  while (done.authorities < goal.authorities || done.leaves < goal.leaves) {
    const isLeaf = done.leaves < goal.leaves && done.leaves < share * (done.authorities + 1);
    const counts = isLeaf ? await rotateLeaf(cluster) : await rotateAuthority(cluster);
    if (!counts) done.uncounted++;
    else done[isLeaf ? 'leaves' : 'authorities']++;
    if (done.uncounted > goal.authorities + goal.leaves) {
      throw new Error(`${done.uncounted} rotations saw no handshake of the API server, so the load is too small`);
    }
    const total = done.authorities + done.leaves;
    if (total % 50 === 0) cluster.context.say(`${done.authorities} authorities, ${done.leaves} serving certificates`);
  }
  return done;
}

/** Renews a leaf. Reports whether the API server connected both during and after the renewal. */
async function rotateLeaf(cluster: RotatingCluster): Promise<boolean> {
  const { observer } = cluster;
  const before = observer.common();
  const began = Date.now();
  await cluster.request('leaf');
  const after = await observer.waitForOther(before);
  // A scheduled renewal or the end of a CA rotation may come first and issue the certificate.
  return isMet(cluster, began, after.firstSeen);
}

/** Rotates the CA. Reports whether the API server connected before and during the change. */
async function rotateAuthority(cluster: RotatingCluster): Promise<boolean> {
  const { observer } = cluster;
  const issuer = observer.common()?.issuer;
  const known = observer.authorities.length;
  const nonce = await cluster.request('authority');
  let staged = 0;
  const leaf = await waitFor('a certificate of another authority on every replica', () => {
    if (staged === 0 && observer.authorities.length > known) staged = Date.now();
    const common = observer.common();
    return common?.issuer !== undefined && common.issuer !== issuer && common;
  });
  await cluster.waitForDone(nonce);
  const firstSwap = Math.min(...leaf.firstSeen.values());
  // If an old CA left the bundle at the same time, the observer could not see the new CA arrive.
  if (staged === 0 || (await cluster.apiServerHandshakes(staged, firstSwap)) === 0) return false;
  return isMet(cluster, staged, leaf.firstSeen);
}

/** Waits for a connection after all replicas changed. Reports whether one came earlier, too. */
async function isMet(cluster: RotatingCluster, began: number, firstSeen: Map<string, number>): Promise<boolean> {
  const all = Math.max(...firstSeen.values());
  const during = await cluster.apiServerHandshakes(began, all);
  await waitFor('the API server to make a connection', async () => (await cluster.apiServerHandshakes(all)) > 0);
  return during > 0;
}

/** Checks a forced rotation, as after a stolen key: the old CAs leave the bundle early. */
async function checkForcedRetirement(cluster: RotatingCluster): Promise<void> {
  const { context, observer } = cluster;
  const before = observer.authorities.length;
  await cluster.waitForDone(await cluster.request('authority-force'));
  await observer.waitForRound();
  await context.check(
    `after a forced rotation, only 1 of ${before} CAs remains in the bundle, and this CA signed the certificates of all replicas`,
    () => observer.authorities.length === 1 && observer.common()?.issuer === observer.authorities[0],
  );
}
