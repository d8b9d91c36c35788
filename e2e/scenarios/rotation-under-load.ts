import type { Scenario } from '../harness/scenario-context.ts';
import { RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { checkBundleWithoutOverlap, checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';
import { checkForcedRetirement, rotateManyTimes } from './rotation-under-load/rotations.ts';

/** An hour is a minute, so an authority is confirmed for 2 s and a serving certificate lives for a minute. */
const certificate = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '120s' };
const flags = ['--test-certificate-time-scale=60', '--requests-per-connection=2', '--drain-seconds=0'];

/** Authorities and serving certificates are replaced again and again while pods are created with failurePolicy Fail. */
export const rotationUnderLoad: Scenario = {
  name: 'rotation-under-load',
  core: true,
  about:
    'authorities and serving certificates are replaced under load, each while the API server makes new connections: nothing is lost, and an outside observer never sees a certificate that the bundle does not verify',
  full: '30 authorities and 200 serving certificates, at least 20 handshakes a second by the API server, about 8 minutes',
  run: (context) => {
    const isFull = context.size === 'full';
    const perSecond = isFull ? 45 : 25;
    return RotatingCluster.run(context, { name: 'rotating', certificate, flags, perSecond }, async (cluster) => {
      const { observer, losses } = cluster;
      const controls = await takeOver(cluster, async (writer) => ({
        lostByLeafFirst: await checkLeafBeforeBundle(cluster, writer),
        lostWithoutOverlap: await checkBundleWithoutOverlap(cluster, writer),
      }));

      const since = Date.now();
      const seen = { handshakes: observer.handshakes, violations: observer.violations.length };
      const wanted = isFull ? { authorities: 30, leaves: 200 } : { authorities: 2, leaves: 10 };
      const rotations = await rotateManyTimes(cluster, wanted);
      await checkForcedRetirement(cluster);
      const until = Date.now();
      const still = await cluster.standstill.between(since, until);
      const handshakes = await cluster.apiServerHandshakes(since);
      const perSecondMade = Math.round((10_000 * handshakes) / (until - since)) / 10;
      const { authorities, leaves, uncounted } = rotations;
      await losses.checkNone(`${authorities} authorities and ${leaves} serving certificates replaced`, since);
      const observed = observer.handshakes - seen.handshakes;
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
      context.measured({
        ...controls,
        authorities,
        leaves,
        uncounted,
        created,
        lost: 0,
        apiServerHandshakes: handshakes,
        apiServerHandshakesPerSecond: perSecondMade,
        observerHandshakes: observed,
        violations: 0,
        mostAuthoritiesInBundle: observer.mostAuthorities,
        p50Milliseconds,
        p99Milliseconds,
      });
      return `${authorities} authorities and ${leaves} serving certificates replaced, ${created} pods, ${handshakes} handshakes by the API server (${perSecondMade} a second), ${observed} by the observer: 0 lost; leaf first lost ${controls.lostByLeafFirst}, a bundle without overlap ${controls.lostWithoutOverlap}`;
    });
  },
};
