import { RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { Clocks } from './certificate-clocks/clocks.ts';
import { crossExpiry, shortLives } from './certificate-clocks/short-lives.ts';
import { checkWrongClocks } from './certificate-clocks/wrong-clocks.ts';

/** Certificates really expire and are renewed before, and clocks are wrong by minutes and jump by a day. */
export const certificateClocks: Scenario = {
  name: 'certificate-clocks',
  about:
    'serving certificates and authorities live for seconds and are renewed before they end; clocks differ by 20 minutes and jump by a day: no renewal too soon, none missed, nothing lost',
  full: '5 minutes of lives of seconds, 10 rounds of wrong clocks, about 9 minutes',
  run: async (context) => {
    const isFull = context.size === 'full';
    const clocks = new Clocks(context.cluster.run.path);
    const flags = (name: string) => [
      '--test-certificate-time-scale=60',
      `--test-clock-offset-file=${clocks.fileOf(name)}`,
      '--requests-per-connection=2',
      '--drain-seconds=0',
    ];
    const options = { name: 'clocks', certificate: shortLives, flags, perSecond: 15 };
    return RotatingCluster.run(context, options, async (cluster) => {
      const { losses, observer, load } = cluster;
      const since = Date.now();
      const crossed = await crossExpiry(cluster, isFull ? 300_000 : 0);
      const renewals = await checkWrongClocks(cluster, clocks, isFull ? 10 : 1);
      const created = await losses.checkNone('lives of seconds and wrong clocks', since);
      await observer.waitForRound();
      for (const { description } of observer.violationsSince(since).slice(0, 5)) context.say(description);
      await context.checkNow(
        'no replica was ever seen with a certificate that has expired or that the bundle does not verify',
        () => observer.violationsSince(since).length === 0,
      );
      await load.stop();
      context.measured({ ...crossed, renewalsWithWrongClocks: renewals, created, lost: 0 });
      return `${crossed.expiredLeaves} serving certificates and ${crossed.expiredAuthorities} authorities renewed and seen to expire; ${renewals} renewals with wrong clocks, none too soon, none missed; ${created} pods: 0 lost`;
    });
  },
};
