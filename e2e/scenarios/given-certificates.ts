import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { parseBundle } from '../../src/certs/bundle.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { RotatingCluster, rotatingFlags, shortTerms } from '../harness/tls-observer/rotating-cluster.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { CompanyAuthority, type PairText } from './given-certificates/company-authority.ts';
import { GivenSecret } from './given-certificates/given-secret.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

/** Confirming takes so long; certificates of the user's own live as long as they say. Milliseconds. */
const confirming = 2000;

export const givenCertificates: Scenario = {
  name: 'given-certificates',
  about:
    "certificates of the user's own under load: served after their authority is trusted, replaced without loss, refused when they could not serve",
  paired: true,
  run: (context) =>
    RotatingCluster.run(
      context,
      { name: 'given', certificate: shortTerms, flags: rotatingFlags, perSecond: 25 },
      async (cluster) => {
        const { names, namespace, observer, losses } = cluster;
        const forService = { service: names.service, namespace };
        const [company, successor] = [
          await CompanyAuthority.create('company'),
          await CompanyAuthority.create('successor'),
        ];
        const secret = new GivenSecret(cluster, shortTerms);
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
        await cluster.checkNoViolations(
          `the observer's ${observer.handshakes - seen} handshakes: each certificate verified against the live bundle`,
          since,
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
      },
    ),
};

/**
 * A certificate of another authority: that authority stands in the bundle before anyone serves the certificate, for as long as confirming takes, and the
 * API server makes new connections in between. Returns the milliseconds from the bundle to the first replica.
 *
 * @param least milliseconds that confirming takes
 */
async function checkOtherAuthority(
  secret: GivenSecret,
  says: string,
  text: PairText,
  least: number,
  begin: () => Promise<void>,
): Promise<number> {
  const { cluster } = secret;
  const { context, losses, observer } = cluster;
  const since = Date.now();
  await begin();
  const [root] = parseBundle(text['ca.crt']);
  const seen = await waitFor('the authority to be in the bundle', async () => {
    const bundle = parseBundle(await cluster.bundle());
    return bundle.some(({ fingerprint }) => fingerprint === root?.fingerprint) && Date.now();
  });
  const published = lastBundleWrite(cluster, since, seen);
  const { firstSeen } = await secret.waitUntilServed(text);
  const first = Math.min(...firstSeen.values());
  const all = Math.max(...firstSeen.values());
  const between = await cluster.apiServerHandshakes(published, first);
  await waitFor('the API server to make a connection', async () => (await cluster.apiServerHandshakes(all)) > 0);
  const waited = first - published;
  await context.checkNow(
    `${says}: served by all replicas ${all - since} ms later, ${waited} ms after its authority was in the bundle, ${between} new connections in between`,
    () => waited >= least - 300 && between > 0 && observer.violationsSince(since).length === 0,
  );
  await losses.checkNone(says, since);
  return waited;
}

/** When the API server had done the last write of the webhook configuration within a time, in milliseconds since 1970: we may have seen it late. */
function lastBundleWrite({ audit, names, replicas }: RotatingCluster, from: number, to: number): number {
  const times = audit
    .writesBy(replicas.installation.username)
    .filter(
      ({ objectRef, responseStatus }) => objectRef?.name === names.webhookConfiguration && responseStatus?.code === 200,
    )
    .map(({ stageTimestamp }) => Date.parse(stageTimestamp))
    .filter((time) => time >= from && time <= to);
  return Math.max(...times);
}

/** The observer looks five times a second; replicas leave a stranger's certificate alone for 3 s. Milliseconds. */
const atOnce = 2000;

async function checkSameAuthority(secret: GivenSecret, says: string, text: PairText): Promise<number> {
  const { cluster } = secret;
  const { context, losses } = cluster;
  const since = Date.now();
  await secret.write(text);
  const { firstSeen } = await secret.waitUntilServed(text);
  const served = Math.max(...firstSeen.values());
  const took = served - since;
  const still = await cluster.standstill.between(since, served);
  await context.check(
    `${says}: CertificateReady, and served by all replicas ${took} ms later`,
    async () => took <= atOnce + still && (await secret.condition()).says.startsWith('True'),
  );
  await losses.checkNone(says, since);
  return took;
}

const day = 86_400_000;

interface BadPair {
  says: string;
  reason: string;
  /** The key that the condition must name; undefined when the whole Secret is missing. */
  key: string | undefined;
  write: (secret: GivenSecret) => Promise<void>;
}

async function badPairs(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<BadPair[]> {
  const { names, namespace } = secret.cluster;
  const forService = { service: names.service, namespace };
  const stranger = await CompanyAuthority.create('stranger');
  const elsewhere = await company.issue({ service: 'another-service', namespace });
  const expired = await company.issue({ ...forService, now: new Date(Date.now() - 2 * day), duration: day });
  const other = await company.issue(forService);
  const [leaf = ''] = other['tls.crt'].split(/(?<=-----END CERTIFICATE-----\n)/);
  const bad = (says: string, reason: string, key: string, text: Parameters<GivenSecret['write']>[0]): BadPair => ({
    says,
    reason,
    key,
    write: (each) => each.write(text),
  });
  return [
    bad('a certificate for another name', 'NameMissing', 'tls.crt', elsewhere),
    bad("another certificate's key", 'KeyMismatch', 'tls.key', { ...other, 'tls.key': good['tls.key'] }),
    bad('a certificate that has expired', 'Expired', 'tls.crt', expired),
    bad('a chain without its intermediate', 'Untrusted', 'ca.crt', { ...other, 'tls.crt': leaf }),
    bad('an authority that did not sign it', 'Untrusted', 'ca.crt', { ...other, 'ca.crt': stranger.root }),
    bad('half of a certificate', 'Unreadable', 'tls.crt', { ...other, 'tls.crt': leaf.slice(0, leaf.length / 2) }),
    bad('no key', 'KeyMissing', 'tls.key', { 'tls.crt': other['tls.crt'], 'ca.crt': other['ca.crt'] }),
    { says: 'no Secret', reason: 'SecretMissing', key: undefined, write: (each) => each.delete() },
  ];
}

/**
 * Writes each of them under load: it is refused with a condition that names Secret, key and what to do, and a Warning Event, while the certificate that
 * was served before goes on being served. Returns how many there were.
 */
async function checkRefusals(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<number> {
  const { cluster } = secret;
  const { context, observer, losses } = cluster;
  const since = Date.now();
  const served = await secret.waitUntilServed(good);
  const pairs = await badPairs(secret, company, good);
  for (const { says, reason, key, write } of pairs) {
    const began = Date.now();
    await write(secret);
    await context.check(`${says}: refused as ${reason}; the one before is served meanwhile`, async () => {
      const condition = await secret.condition();
      found(condition.says, `False (${reason})`);
      const told = [`Secret ${cluster.namespace}/${secret.name}`, key ?? '', 'is served meanwhile'];
      return told.every((part) => condition.message.includes(part));
    });
    await observer.waitForRound();
    await context.checkNow(
      `and every replica goes on with it, ${Date.now() - began} ms later`,
      () => observer.common() === served,
    );
  }
  await context.check('a Warning Event tells of each', async () => {
    const told = new Set(await warnings(secret));
    return found(
      pairs
        .filter(({ reason }) => !told.has(reason))
        .map(({ says }) => says)
        .join(),
      '',
    );
  });
  await losses.checkNone(`${pairs.length} Secrets that could not serve`, since);
  return pairs.length;
}

async function warnings({ cluster }: GivenSecret): Promise<string[]> {
  const { items } = await cluster.context.client.listAll<
    KubernetesObject & { regarding: { name?: string }; reason: string; type: string }
  >(resourceKind('events.k8s.io/v1', 'Event'));
  return items
    .filter(({ regarding, type }) => regarding.name === cluster.name && type === 'Warning')
    .map(({ reason }) => reason);
}
