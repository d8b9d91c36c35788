import type { Scenario } from '../harness/scenario-context.ts';
import { RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { CompanyAuthority } from './given-certificates/company-authority.ts';
import { GivenSecret } from './given-certificates/given-secret.ts';
import { checkRefusals } from './given-certificates/refused-pairs.ts';
import { checkOtherAuthority, checkSameAuthority } from './given-certificates/replacements.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

/** An hour is a minute: confirming takes 2 s. Certificates of the user's own live as long as they say. */
const certificate = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '120s' };
const flags = ['--test-certificate-time-scale=60', '--requests-per-connection=2', '--drain-seconds=0'];
const confirming = 2000;

/** `provider: Secret`: people bring certificates of their own, good ones and bad ones, while pods are created. */
export const givenCertificates: Scenario = {
  name: 'given-certificates',
  about:
    "certificates of the user's own under load: served after their authority is trusted, replaced without loss, refused when they could not serve",
  paired: true,
  run: (context) =>
    RotatingCluster.run(context, { name: 'given', certificate, flags, perSecond: 25 }, async (cluster) => {
      const { names, namespace, observer, losses } = cluster;
      const forService = { service: names.service, namespace };
      const [company, successor] = [
        await CompanyAuthority.create('company'),
        await CompanyAuthority.create('successor'),
      ];
      const secret = new GivenSecret(cluster, certificate);
      // What somebody's certificate does that is served as soon as it is there.
      const lostAtOnce = await takeOver(cluster, (writer) => checkLeafBeforeBundle(cluster, writer));

      const since = Date.now();
      const seen = observer.handshakes;
      const first = await company.issue(forService);
      await secret.write(first);
      await checkOtherAuthority(secret, "a company's certificate in place of our own", first, confirming, () =>
        secret.choose('Secret'),
      );
      const renewed = await company.issue(forService);
      const took = await checkSameAuthority(secret, 'the company has renewed it', renewed);
      const refused = await checkRefusals(secret, company, renewed);
      await checkSameAuthority(secret, 'a good one again', await company.issue(forService));
      const other = await successor.issue(forService);
      const waited = await checkOtherAuthority(secret, 'one of another authority', other, confirming, () =>
        secret.write(other),
      );
      await secret.choose('SelfSigned');
      const own = await observer.waitForOther(observer.common());
      await context.check('our own again', () => observer.common() === own && own.issuer !== undefined);
      const created = await losses.checkNone('certificates given, renewed, refused, replaced and taken away', since);
      for (const { description } of observer.violationsSince(since).slice(0, 5)) context.say(description);
      await context.checkNow(
        `the observer's ${observer.handshakes - seen} handshakes: each certificate verified against the live bundle`,
        () => observer.violationsSince(since).length === 0,
      );
      await cluster.load.stop();
      context.measured({
        created,
        lost: 0,
        lostAtOnce,
        refused,
        renewedMilliseconds: took,
        confirmedMilliseconds: waited,
      });
      return `0 of ${created} lost (${lostAtOnce} when served at once); a renewal served after ${took} ms, another authority ${waited} ms after it was published, ${refused} refused`;
    }),
};
