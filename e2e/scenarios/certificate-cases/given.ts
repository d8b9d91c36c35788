import { X509Certificate } from 'node:crypto';
import { parseBundle } from '../../../src/certs/read-certificate.ts';
import { applyObject, objectOf } from '../../harness/apply.ts';
import { type CompanyAuthority, companyAuthority, type PairText } from '../../harness/company-authority.ts';
import { conditionOf } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import { encoded, shortTerms, type RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import type { SeenLeaf } from '../../harness/tls-observer/tls-observer.ts';
import { found, waitFor } from '../../harness/wait-for.ts';

/** Checks certificates that a user writes to a Secret: new, renewed, invalid, of a successor. */
export async function checkGivenCertificates(cluster: RotatingCluster) {
  const { context, names, namespace, observer, losses } = cluster;
  const forService = { service: names.service, namespace };
  const company = await companyAuthority('company');
  const successor = await companyAuthority('successor');
  const secret = givenSecret(cluster);
  const since = Date.now();
  const seen = observer.handshakes;
  const first = await company.issue(forService);
  await secret.write(first);
  await checkOtherAuthority(secret, "a company's certificate replaces ours", first, () => secret.choose('Secret'));
  const renewed = await company.issue(forService);
  const took = await checkSameAuthority(secret, 'the company renews its certificate', renewed);
  const refused = await checkRefusals(secret, company, renewed);
  await checkSameAuthority(secret, 'a valid certificate follows bad ones', await company.issue(forService));
  const other = await successor.issue(forService);
  const waited = await checkOtherAuthority(secret, 'the certificate of another authority follows', other, () =>
    secret.write(other),
  );
  await secret.choose('SelfSigned');
  const own = await observer.waitForOther(observer.common());
  await context.check(
    "all replicas serve the operator's certificate again",
    () => observer.common() === own && own.issuer !== undefined,
  );
  await losses.checkNone('while a user added, renewed, replaced and removed certificates', since);
  await cluster.checkNoViolations(
    `the live bundle verified the certificate of each of the observer's ${observer.handshakes - seen} handshakes`,
    since,
  );
  return { refused, renewedMilliseconds: took, confirmedMilliseconds: waited };
}

/** The confirmation period, in milliseconds. */
const confirmationMs = 2000;

/**
 * Checks that another authority is in the bundle for the confirmation period, and that the API
 * server reconnects, before a replica serves the certificate. Returns this wait in milliseconds.
 */
async function checkOtherAuthority(
  secret: GivenSecret,
  says: string,
  text: PairText,
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
    `${says}: the first replica serves the new certificate ${waited} ms after its authority was published, all replicas after ${all - since} ms, and the API server made ${between} new connections in between`,
    () => waited >= confirmationMs - 300 && between > 0 && observer.violationsSince(since).length === 0,
  );
  await losses.checkNone(says, since);
  return waited;
}

/** Returns when the interval's last write of the webhook configuration ended (ms since 1970). */
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

/** The maximum time to serve a renewed certificate, in ms. Without a watch, it takes up to 30 s. */
const maximumRenewalMs = 10_000;

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
    `${says}: all replicas serve the new certificate after ${took} ms, and CertificateReady is True`,
    async () => took <= maximumRenewalMs + still && (await secret.condition()).says.startsWith('True'),
  );
  await losses.checkNone(says, since);
  return took;
}

/**
 * Checks that conditions report two invalid Secrets, and that replicas serve the previous
 * certificate. Returns the number of invalid Secrets.
 */
async function checkRefusals(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<number> {
  const { cluster } = secret;
  const { context, observer, losses } = cluster;
  const since = Date.now();
  const served = await secret.waitUntilServed(good);
  const elsewhere = await company.issue({ service: 'another-service', namespace: cluster.namespace });
  const faults = [
    ['the certificate is for another host name', 'NameMissing', elsewhere],
    ['the Secret does not exist', 'SecretMissing', undefined],
  ] as const;
  for (const [fault, reason, text] of faults) {
    const began = Date.now();
    await secret.write(text);
    await context.check(`${fault}: CertificateReady has reason ${reason} and names Secret and key`, async () => {
      const { says, message } = await secret.condition();
      found(says, `False (${reason})`);
      const parts = [`Secret ${cluster.namespace}/${secret.name}`, 'tls.crt', 'is still served'];
      return parts.every((part) => message.includes(part));
    });
    await observer.waitForRound();
    await context.checkNow(
      `${fault}: every replica still serves the previous certificate after ${Date.now() - began} ms`,
      () => observer.common() === served,
    );
  }
  await losses.checkNone(`with ${faults.length} invalid Secrets`, since);
  return faults.length;
}

type GivenSecret = ReturnType<typeof givenSecret>;

function givenSecret(cluster: RotatingCluster) {
  const { client } = cluster.context;
  const name = 'company-tls';
  return {
    cluster,
    name,

    /** Replaces the Secret's data; deletes the Secret if `text` is undefined. */
    write: async (text: Partial<PairText> | undefined): Promise<void> => {
      const secret = objectOf('v1', 'Secret', name, cluster.namespace);
      if (text === undefined) await client.delete(secret);
      else await applyObject(client, { ...secret, data: encoded(text) });
    },

    choose: async (provider: 'Secret' | 'SelfSigned'): Promise<void> => {
      const secretRef = provider === 'Secret' ? { secretRef: { name } } : {};
      const certificate = { ...shortTerms, provider, ...secretRef };
      await applyObject(client, markedConfig(cluster.name, 'one', { certificate }));
    },

    /** Waits until the observer sees every replica serve the certificate in `tls.crt`. */
    waitUntilServed: (text: { 'tls.crt': string }): Promise<SeenLeaf> => {
      const { fingerprint256 } = new X509Certificate(text['tls.crt']);
      return waitFor('every replica to serve the certificate of the Secret', () => {
        const leaf = cluster.observer.common();
        return leaf?.fingerprint === fingerprint256 && leaf;
      });
    },

    /** Returns CertificateReady, formatted as `False (Expired)`, and its message. */
    condition: async () => {
      const found = await conditionOf(client, cluster.name, 'CertificateReady');
      return { says: `${found?.status ?? 'none'} (${found?.reason ?? ''})`, message: found?.message ?? '' };
    },
  };
}
