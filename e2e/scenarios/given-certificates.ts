import { X509Certificate } from 'node:crypto';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { parseBundle } from '../../src/certs/read-certificate.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import { type CompanyAuthority, companyAuthority, type PairText } from '../harness/company-authority.ts';
import { conditionOf } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import {
  encoded,
  shortTerms,
  startRotatingCluster,
  type RotatingCluster,
} from '../harness/tls-observer/rotating-cluster.ts';
import type { SeenLeaf } from '../harness/tls-observer/tls-observer.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

/** The confirmation period, in milliseconds. */
const confirmationMs = 2000;

export const givenCertificates: Scenario = {
  name: 'given-certificates',
  about:
    "under load, replicas serve a user's certificate once its authority is trusted, replace it without a lost pod, and refuse invalid certificates",
  run: async (context) => {
    const cluster = await startRotatingCluster(context, { name: 'given', perSecond: 25 });
    const { names, namespace, observer, losses } = cluster;
    const forService = { service: names.service, namespace };
    const company = await companyAuthority('company');
    const successor = await companyAuthority('successor');
    const secret = givenSecret(cluster);
    // The negative control: replicas serve a certificate before its authority is trusted.
    const lostAtOnce = await takeOver(cluster, () => checkLeafBeforeBundle(cluster));

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
    const created = await losses.checkNone('while a user added, renewed, replaced and removed certificates', since);
    await cluster.checkNoViolations(
      `the live bundle verified the certificate of each of the observer's ${observer.handshakes - seen} handshakes`,
      since,
    );
    await cluster.load.stop();
    const figures = { lostAtOnce, refused, renewedMilliseconds: took, confirmedMilliseconds: waited };
    context.measured({ created, lost: 0, ...figures });
    return `0 of ${created} pods lost (${lostAtOnce} more while replicas served a certificate that was not trusted yet); a renewed certificate was served after ${took} ms, a certificate from another authority ${waited} ms after the authority was published; ${refused} invalid Secrets were refused`;
  },
};

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

/** The maximum time to serve a renewed certificate, in ms. A retry would take 3 s. */
const maximumRenewalMs = 2000;

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

const day = 86_400_000;

/** An invalid Secret: its fault, the reason and the key in the condition, and its data. */
type BadPair = [fault: string, reason: string, key: string, data: Partial<PairText> | undefined];

async function badPairs(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<BadPair[]> {
  const { names, namespace } = secret.cluster;
  const forService = { service: names.service, namespace };
  const unrelated = await companyAuthority('unrelated');
  const elsewhere = await company.issue({ service: 'another-service', namespace });
  const expired = await company.issue(forService, new Date(Date.now() - 2 * day));
  const other = await company.issue(forService);
  const [leaf = ''] = other['tls.crt'].split(/(?<=-----END CERTIFICATE-----\n)/);
  return [
    ['the certificate is for another host name', 'NameMissing', 'tls.crt', elsewhere],
    ['the key belongs to another certificate', 'KeyMismatch', 'tls.key', { ...other, 'tls.key': good['tls.key'] }],
    ['the certificate has expired', 'Expired', 'tls.crt', expired],
    ['the chain has no intermediate certificate', 'Untrusted', 'ca.crt', { ...other, 'tls.crt': leaf }],
    ['the authority did not sign the certificate', 'Untrusted', 'ca.crt', { ...other, 'ca.crt': unrelated.root }],
    ['the certificate is truncated', 'Unreadable', 'tls.crt', { ...other, 'tls.crt': leaf.slice(0, leaf.length / 2) }],
    ['the Secret has no key', 'KeyMissing', 'tls.key', { 'tls.crt': other['tls.crt'], 'ca.crt': other['ca.crt'] }],
    ['the Secret does not exist', 'SecretMissing', '', undefined],
  ];
}

/**
 * Checks that a condition and a Warning Event report each invalid Secret, and that replicas serve
 * the previous certificate. Returns the number of invalid Secrets.
 */
async function checkRefusals(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<number> {
  const { cluster } = secret;
  const { context, observer, losses } = cluster;
  const since = Date.now();
  const served = await secret.waitUntilServed(good);
  const pairs = await badPairs(secret, company, good);
  for (const [fault, reason, key, text] of pairs) {
    const began = Date.now();
    await secret.write(text);
    await context.check(`${fault}: CertificateReady has reason ${reason} and names Secret and key`, async () => {
      const condition = await secret.condition();
      found(condition.says, `False (${reason})`);
      const parts = [`Secret ${cluster.namespace}/${secret.name}`, key, 'is still served'];
      return parts.every((part) => condition.message.includes(part));
    });
    await observer.waitForRound();
    await context.checkNow(
      `${fault}: every replica still serves the previous certificate after ${Date.now() - began} ms`,
      () => observer.common() === served,
    );
  }
  await context.check('a Warning Event reports each invalid Secret', async () => {
    const { items } = await context.client.listAll<WarningEvent>(resourceKind('events.k8s.io/v1', 'Event'));
    const warnings = items.filter(({ regarding, type }) => regarding.name === cluster.name && type === 'Warning');
    const reasons = new Set(warnings.map(({ reason }) => reason));
    const missing = pairs.filter(([, reason]) => !reasons.has(reason));
    return found(missing.map(([fault]) => fault).join(), '');
  });
  await losses.checkNone(`with ${pairs.length} invalid Secrets`, since);
  return pairs.length;
}

type WarningEvent = KubernetesObject & { regarding: { name?: string }; reason: string; type: string };

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
