import { parseBundle } from '../../../src/certs/bundle.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import type { PairText } from './company-authority.ts';
import type { GivenSecret } from './given-secret.ts';

/**
 * A certificate of another authority: that authority stands in the bundle before anyone serves the certificate, for as long as confirming takes, and the
 * API server makes new connections in between. Returns the milliseconds from the bundle to the first replica.
 *
 * @param least milliseconds that confirming takes
 */
export async function checkOtherAuthority(
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

/** A certificate of the same authority: served at once, without a phase. Returns the milliseconds until every replica had it. */
export async function checkSameAuthority(secret: GivenSecret, says: string, text: PairText): Promise<number> {
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
