import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { labelNames, objectNames } from '../../src/api/names.ts';
import { parseBundle } from '../../src/certs/read-certificate.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import { prepareCertManager } from '../harness/cert-manager.ts';
import { companyAuthority } from '../harness/company-authority.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { LeaderKiller } from '../harness/replicas/leader-killer.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { Signer } from '../harness/signer.ts';
import {
  encoded,
  rotatingFlags,
  shortTerms,
  startRotatingCluster,
  type RotatingCluster,
} from '../harness/tls-observer/rotating-cluster.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

const name = 'switched';
const signerName = 'e2e.example.com/switch';

const providers = {
  SelfSigned: {},
  Secret: { secretRef: { name: 'company-tls' } },
  CertificateSigningRequest: { signerName, caBundleFrom: { name: 'signer-roots' } },
  CertManager: { issuerRef: { name: 'e2e' } },
};
type Provider = keyof typeof providers;

/** Leaves live for 180 s: on a busy machine, the kills delay a switch by more than 60 s. */
const terms = { ...shortTerms, leafDuration: '3h' };

/** The providers in order. In the full size, each switch between two providers occurs once. */
const way: Record<ScenarioContext['size'], Provider[]> = {
  short: ['Secret', 'CertificateSigningRequest', 'CertManager', 'SelfSigned'],
  full: [
    ...(['Secret', 'SelfSigned', 'CertificateSigningRequest', 'SelfSigned', 'CertManager', 'Secret'] as const),
    ...(['CertificateSigningRequest', 'Secret', 'CertManager', 'CertificateSigningRequest', 'CertManager'] as const),
    'SelfSigned',
  ],
};
/** Indexes in the full way of the switches in which the leader is killed after each write. */
const killed = [9, 10];
/** Indexes in the full way of the switches that are first reverted halfway. */
const reverted = [1, 3, 4];

export const providerSwitch: Scenario = {
  name: 'provider-switch',
  about:
    'during switches between the four certificate providers under load, with kills of the leader, no pod is lost, the bundle always contains the root of the served certificate, and no object of another provider remains',
  full: 'twelve switches, two of them with a kill of the leader after each write, and three reverted halfway, 2 minutes',
  run: async (context) => {
    const [company, signing] = [await companyAuthority('company', false), await companyAuthority('signer', false)];
    Signer.start(context, signerName, signing);
    const certManager = await prepareCertManager(context);
    await certManager.define();
    certManager.controller.start();
    const roots: Partial<Record<Provider, string>> = { Secret: company.root, CertificateSigningRequest: signing.root };
    const cluster = await startRotatingCluster(context, {
      name,
      certificate: terms,
      controllers: 1,
      perSecond: context.size === 'full' ? 20 : 8,
      proxied: true,
      flags: [...rotatingFlags, shortLeases],
      values: { operator: { certificateSigningRequests: true, certManager: true } },
      before: async (namespace) => {
        roots.CertManager = await certManager.issuer('e2e', namespace);
        const data = { 'ca.crt': signing.root };
        await applyObject(context.client, { ...objectOf('v1', 'ConfigMap', 'signer-roots', namespace), data });
        const pair = await company.issue({ service: objectNames(name).service, namespace });
        await applyObject(context.client, {
          ...objectOf('v1', 'Secret', 'company-tls', namespace),
          data: encoded(pair),
        });
      },
    });
    const { losses, observer } = cluster;
    const lostAtOnce = await takeOver(cluster, () => checkLeafBeforeBundle(cluster));
    let leaf = await observer.waitForOther(undefined);
    const first = await cluster.bundle();
    const since = Date.now();
    const isFull = context.size === 'full';
    const switches = way[context.size];
    const kinds = new Set<string>();
    let isFatal = false;
    const killer = await LeaderKiller.start(cluster.replicas, {
      // In the short size, one write of each kind is fatal.
      isFatal: ({ verb, resource }) => (isFull ? isFatal : kinds.size !== kinds.add(`${verb} ${resource}`).size),
    });
    for (const [index, provider] of switches.entries()) {
      const before = switches[index - 1] ?? 'SelfSigned';
      if (isFull && reverted.includes(index)) await checkReverted(cluster, before, provider);
      const old = leaf;
      isFatal = killed.includes(index);
      await choose(cluster, provider);
      leaf = await observer.waitForOther(old);
      isFatal = false;
      const trusted = new Set(observer.authorities);
      await context.checkNow(
        `after the switch from ${before} to ${provider}, all replicas serve the new certificate, and the bundle has both roots`,
        () => trusted.has(leaf.issuer ?? '') && trusted.has(old.issuer ?? '') && isRootOf(roots[provider], leaf.issuer),
      );
      await checkOnlyObjects(cluster, provider);
      await losses.checkNone(`after the switch from ${before} to ${provider}`, since);
    }
    await killer.end();
    const kills = killer.deaths.length;
    const created = await losses.checkNone(`during ${switches.length} switches and ${kills} kills`, since);
    await cluster.checkNoViolations('the live bundle verified the certificate of each handshake', since);
    for (const kind of kinds) context.say(`a leader was killed after a write of the kind ${kind}`);
    await context.checkNow(`${kills} leaders were killed`, () => kills >= (isFull ? 5 * killed.length : kinds.size));
    const bundles = await checkBundles(cluster, first, since);
    await cluster.load.stop();
    context.measured({ created, lost: 0, lostAtOnce, switches: switches.length, kills, bundles });
    return `${switches.length} switches, ${kills} leaders killed: 0 of ${created} pods lost (${lostAtOnce} more while replicas served a certificate that was not trusted yet); ${bundles} bundles written, each with the root of the served certificate`;
  },
};

function isRootOf(pem: string | undefined, fingerprint: string | undefined): boolean {
  return pem === undefined || new X509Certificate(pem).fingerprint256 === fingerprint;
}

async function choose({ context }: RotatingCluster, provider: Provider): Promise<void> {
  const certificate = { ...terms, provider, ...providers[provider] };
  await applyObject(context.client, markedConfig(name, 'one', { certificate }));
}

/** Chooses the next provider; chooses the old provider again once the bundle has the new root. */
async function checkReverted(cluster: RotatingCluster, before: Provider, next: Provider): Promise<void> {
  const { context, observer } = cluster;
  const old = observer.common();
  const known = new Set(observer.authorities);
  await choose(cluster, next);
  await waitFor('another root in the bundle', () => observer.authorities.some((each) => !known.has(each)));
  await choose(cluster, before);
  await sleep(3000);
  await observer.waitForRound();
  await context.checkNow(
    `after a switch from ${before} to ${next} was reverted halfway, all replicas still serve the old certificate`,
    () => observer.common() === old,
  );
  await checkOnlyObjects(cluster, before);
}

async function checkOnlyObjects({ context, namespace }: RotatingCluster, provider: Provider): Promise<void> {
  const { client } = context;
  const { requestSecret, certificate } = objectNames(name);
  const secret = resourceKind('v1', 'Secret');
  await context.check(`only the objects of provider ${provider} exist`, async () => {
    const labelSelector = `${labelNames.injectorConfig}=${name}`;
    const requests = await client.list(resourceKind('certificates.k8s.io/v1', 'CertificateSigningRequest'), {
      labelSelector,
    });
    const ofSigner = [await client.find(secret, requestSecret, { namespace }), ...requests.items];
    const ofCertManager = [
      await client.find(secret, certificate, { namespace }),
      await client.find(resourceKind('cert-manager.io/v1', 'Certificate'), certificate, { namespace }),
    ];
    const remaining = [
      ...(provider === 'CertificateSigningRequest' ? [] : ofSigner),
      ...(provider === 'CertManager' ? [] : ofCertManager),
    ];
    return none(remaining.flatMap((each) => (each === undefined ? [] : [`${each.kind} ${each.metadata.name ?? ''}`])));
  });
}

/** Checks that each bundle had the roots of all certificates then served; counts bundles. */
async function checkBundles(cluster: RotatingCluster, first: string, since: number): Promise<number> {
  const { context, audit, names, observer } = cluster;
  const later = audit.events().flatMap(({ objectRef, verb, responseStatus, responseObject, stageTimestamp }) => {
    const isOurs = objectRef?.name === names.webhookConfiguration && verb !== 'delete';
    const isDone = (responseStatus?.code ?? 0) < 300 && responseObject?.webhooks !== undefined;
    const pems = (responseObject?.webhooks ?? []).map(({ clientConfig }) =>
      Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString(),
    );
    return isOurs && isDone ? [{ at: Date.parse(stageTimestamp), bundles: pems.map(rootsIn) }] : [];
  });
  const written = [{ at: since, bundles: [rootsIn(first)] }, ...later.filter(({ at }) => at >= since)];
  const leaves = [...observer.leaves.values()];
  const problems = (found: typeof written): string[] =>
    found.flatMap(({ at, bundles }, index) => {
      const end = found[index + 1]?.at ?? Infinity;
      const served = leaves.filter(
        ({ firstSeen, lastSeen }) => Math.min(...firstSeen.values()) < end && lastSeen >= at,
      );
      const lacking = served.filter(({ issuer = '' }) => !bundles.every((bundle) => bundle.has(issuer)));
      return lacking.map(({ fingerprint }) => `${new Date(at).toISOString()}: no root of ${fingerprint.slice(0, 11)}`);
    });
  await context.checkNow('negative control: the test detects that a root was missing from the bundle', () => {
    const [last] = written.slice(-1);
    return problems([...written.slice(0, -1), { at: last?.at ?? 0, bundles: [rootsIn(first)] }]).length > 0;
  });
  await context.checkNow(
    `each of ${written.length} bundles had the roots of all certificates that were served at that time (${leaves.length} in total)`,
    () => written.length > way[context.size].length && none(problems(written)),
  );
  return written.length;
}

function rootsIn(pem: string): Set<string> {
  return new Set(parseBundle(pem).map(({ x509 }) => x509.fingerprint256));
}
