import type { Scenario } from '../harness/scenario-context.ts';
import { startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { checkBundleWithoutOverlap, checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

export const rotationUnderLoad: Scenario = {
  name: 'rotation-under-load',
  core: true,
  about:
    'authorities and serving certificates are replaced under load, each while the API server makes new connections: nothing is lost, and an outside observer never sees a certificate that the bundle does not verify',
  full: '30 authorities and 200 serving certificates, at least 20 handshakes a second by the API server, about 8 minutes',
  run: async (context) => {
    const isFull = context.size === 'full';
    const perSecond = isFull ? 45 : 25;
    const cluster = await startRotatingCluster(context, { name: 'rotating', perSecond });
    const { observer, losses } = cluster;
    const controls = await takeOver(cluster, async () => ({
      lostByLeafFirst: await checkLeafBeforeBundle(cluster),
      lostWithoutOverlap: await checkBundleWithoutOverlap(cluster),
    }));

    const since = Date.now();
    const before = observer.handshakes;
    const wanted = isFull ? { authorities: 30, leaves: 200 } : { authorities: 2, leaves: 10 };
    const { authorities, leaves, uncounted } = await rotateManyTimes(cluster, wanted);
    await checkForcedRetirement(cluster);
    const until = Date.now();
    const still = await cluster.standstill.between(since, until);
    const handshakes = await cluster.apiServerHandshakes(since);
    const perSecondMade = Math.round((10_000 * handshakes) / (until - since)) / 10;
    await losses.checkNone(`${authorities} authorities and ${leaves} serving certificates replaced`, since);
    const observed = observer.handshakes - before;
    for (const { description } of observer.violationsSince(since).slice(0, 5)) context.say(description);
    await context.checkNow(
      `the observer's ${observed} handshakes: each certificate verified against the live bundle, by an authority in it`,
      () =>
        observed > 0 &&
        observer.violationsSince(since).length === 0 &&
        [...observer.leaves.values()].every(({ issuer, lastSeen }) => issuer !== undefined || lastSeen < since),
    );
    // The short size runs on machines that do many other things.
    const least = isFull ? 20 : 2;
    await context.checkNow(
      `the API server made ${handshakes} handshakes for admissions, ${perSecondMade} a second; at least ${least} for each in which nothing stood still`,
      () => handshakes > 0 && handshakes >= (least * (until - since - still)) / 1000,
    );
    await cluster.load.stop();
    const { created, p50Milliseconds, p99Milliseconds } = losses.report(since);
    context.measured({ ...controls, authorities, leaves, uncounted, created, lost: 0 });
    context.measured({ apiServerHandshakes: handshakes, apiServerHandshakesPerSecond: perSecondMade });
    const { mostAuthorities } = observer;
    context.measured({ observerHandshakes: observed, violations: 0, mostAuthoritiesInBundle: mostAuthorities });
    context.measured({ p50Milliseconds, p99Milliseconds });
    return `${authorities} authorities and ${leaves} serving certificates replaced, ${created} pods, ${handshakes} handshakes by the API server (${perSecondMade} a second), ${observed} by the observer: 0 lost; leaf first lost ${controls.lostByLeafFirst}, a bundle without overlap ${controls.lostWithoutOverlap}`;
  },
};

async function rotateManyTimes(cluster: RotatingCluster, wanted: { authorities: number; leaves: number }) {
  // Uncounted are those during which the API server happened to make no new connection: they say nothing.
  const done = { authorities: 0, leaves: 0, uncounted: 0 };
  const share = wanted.leaves / wanted.authorities;
  while (done.authorities < wanted.authorities || done.leaves < wanted.leaves) {
    const isLeaf = done.leaves < wanted.leaves && done.leaves < share * (done.authorities + 1);
    const counts = isLeaf ? await rotateLeaf(cluster) : await rotateAuthority(cluster);
    if (!counts) done.uncounted++;
    else done[isLeaf ? 'leaves' : 'authorities']++;
    if (done.uncounted > wanted.authorities + wanted.leaves) {
      throw new Error(`${done.uncounted} rotations met no handshake of the API server: the load is too small`);
    }
    const total = done.authorities + done.leaves;
    if (total % 50 === 0) cluster.context.say(`${done.authorities} authorities, ${done.leaves} serving certificates`);
  }
  return done;
}

/** One renewal under the same authority; whether the API server made connections while it was under way and with the new certificate. */
async function rotateLeaf(cluster: RotatingCluster): Promise<boolean> {
  const { observer } = cluster;
  const before = observer.common();
  const began = Date.now();
  await cluster.request('leaf');
  const after = await observer.waitForOther(before);
  // A renewal by time may have come first, or the end of an authority's replacement; it is one certificate all the same.
  return isMet(cluster, began, after.firstSeen);
}

/** A new authority; whether the API server made connections while both were trusted, before and after the certificate was exchanged. */
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
  // An old authority that left the bundle at the same time hides when the new one came into it.
  if (staged === 0 || (await cluster.apiServerHandshakes(staged, firstSwap)) === 0) return false;
  return isMet(cluster, staged, leaf.firstSeen);
}

/** Waits until the API server has made a connection since all serve the new certificate; whether it made one before, too. */
async function isMet(cluster: RotatingCluster, began: number, firstSeen: Map<string, number>): Promise<boolean> {
  const all = Math.max(...firstSeen.values());
  const during = await cluster.apiServerHandshakes(began, all);
  await waitFor('the API server to make a connection', async () => (await cluster.apiServerHandshakes(all)) > 0);
  return during > 0;
}

/** After a theft: the old authorities leave the bundle long before their last certificate has expired, and nothing is lost by that either. */
async function checkForcedRetirement(cluster: RotatingCluster): Promise<void> {
  const { context, observer } = cluster;
  const before = observer.authorities.length;
  await cluster.waitForDone(await cluster.request('authority-force'));
  await observer.waitForRound();
  await context.check(
    `an authority is replaced by force: of ${before} in the bundle one is left, which signed what all replicas serve`,
    () => observer.authorities.length === 1 && observer.common()?.issuer === observer.authorities[0],
  );
}
