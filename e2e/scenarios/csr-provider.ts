import { setTimeout as sleep } from 'node:timers/promises';
import { objectNames } from '../../src/api/names.ts';
import { parseBundle } from '../../src/certs/read-certificate.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, isGone, objectOf } from '../harness/apply.ts';
import { companyAuthority } from '../harness/company-authority.ts';
import { checkCondition, deleteForced, injectorConfigs } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { Signer, type SigningRequest } from '../harness/signer.ts';
import {
  rotatingFlags,
  shortTerms,
  startRotatingCluster,
  type RotatingCluster,
} from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

const name = 'requested';
const signerName = 'e2e.example.com/serving';
/** Renewals of certificates that are about to expire, and renewals that the runbook causes. */
const renewals = { expiring: 2, requested: 8 };
/** The lifetime of the certificates that expire, in milliseconds: 15 s are left for a renewal. */
const shortLife = 45_000;

export const csrProvider: Scenario = {
  name: 'csr-provider',
  about:
    'a signer issues certificates through CertificateSigningRequests under load; no pod is lost during ten renewals and the change to a new root; the operator repeats requests that were denied, failed, removed or signed wrongly',
  run: async (context) => {
    const [root, successor] = [await companyAuthority('signer'), await companyAuthority('signer next')];
    const signer = Signer.start(context, signerName, root);
    const caBundleFrom = { name: 'signer-roots' };
    const certificate = {
      ...shortTerms,
      provider: 'CertificateSigningRequest',
      signerName,
      expirationSeconds: 600,
      caBundleFrom,
    };
    const cluster = await startRotatingCluster(context, {
      name,
      certificate,
      perSecond: 20,
      flags: [...rotatingFlags, shortLeases],
      values: { operator: { certificateSigningRequests: true } },
      before: (namespace) => writeRoots(context.client, namespace, root.root),
    });
    const { losses, observer } = cluster;
    const lostAtOnce = await takeOver(cluster, () => checkLeafBeforeBundle(cluster));

    const since = Date.now();
    const handshakes = observer.handshakes;
    const seen = await checkRenewals(cluster, signer);
    const remade = await checkBadAnswers(cluster, signer);
    await checkLeaderKilled(cluster, signer);
    const before = observer.common();
    signer.authority = successor;
    // A new expirationSeconds causes a new request.
    await applyObject(
      context.client,
      markedConfig(name, 'one', { certificate: { ...certificate, expirationSeconds: 700 } }),
    );
    await checkSays(cluster, 'the new root is not trusted yet', /^True \(RenewalPending\) .*no valid chain/);
    await context.checkNow(
      'every replica keeps its certificate while the new root is not trusted',
      () => observer.common() === before,
    );
    await writeRoots(context.client, cluster.namespace, root.root + successor.root);
    await observer.waitForOther(before);
    await context.check(
      'once the new root is trusted, replicas serve a certificate that the new root signed, and the bundle contains both roots',
      async () => {
        const trusted = parseBundle(await cluster.bundle()).map(({ pem }) => pem);
        return [root.root, successor.root].every((pem) => trusted.includes(pem));
      },
    );
    const created = await losses.checkNone(
      `during ${seen} renewals, ${remade} bad answers, a killed leader and a new root`,
      since,
    );
    await cluster.checkNoViolations(
      `the live bundle verified the certificate of each of the observer's ${observer.handshakes - handshakes} handshakes`,
      since,
    );
    await cluster.load.stop();
    await checkRemoval(cluster, signer);
    context.measured({ created, lost: 0, lostAtOnce, renewals: seen, remade });
    return `${seen} renewals, a new root, ${remade} bad answers: 0 of ${created} pods lost; the negative control, with a certificate that was not trusted yet, lost ${lostAtOnce}`;
  },
};

const secrets = resourceKind('v1', 'Secret');

function writeRoots(client: RotatingCluster['context']['client'], namespace: string, roots: string) {
  return applyObject(client, { ...objectOf('v1', 'ConfigMap', 'signer-roots', namespace), data: { 'ca.crt': roots } });
}

/** Causes a new request, as the runbook says: deletes the Secret with the request's key. */
async function renew({ context, namespace }: RotatingCluster): Promise<void> {
  await context.client.delete(objectOf('v1', 'Secret', objectNames(name).requestSecret, namespace));
}

function checkSays({ context }: RotatingCluster, says: string, expected: RegExp): Promise<void> {
  return checkCondition(context, name, 'CertificateReady', says, expected);
}

/** Checks renewals of certificates that live for seconds; returns the number of renewals. */
async function checkRenewals(cluster: RotatingCluster, signer: Signer): Promise<number> {
  const { context, observer } = cluster;
  const before = observer.leaves.size;
  Object.assign(signer, { life: shortLife, delay: 300 });
  await renew(cluster);
  const expiring = before + 1 + renewals.expiring;
  await waitFor(`${renewals.expiring} renewals`, () => observer.leaves.size >= expiring, { timeout: 300_000 });
  Object.assign(signer, { life: 600_000, delay: 0 });
  let last = await observer.waitForOther(undefined);
  for (let count = 0; count < renewals.requested; count += 1) {
    await renew(cluster);
    last = await observer.waitForOther(last);
  }
  const seen = observer.leaves.size - before;
  const remaining = [...observer.leaves.values()].map(({ notAfter, lastSeen }) => Number(notAfter) - lastSeen);
  await context.checkNow(
    `each of ${seen} certificates was renewed at least ${Math.min(...remaining)} ms before it expired`,
    () => seen > renewals.expiring + renewals.requested && Math.min(...remaining) > 0,
  );
  return seen;
}

/** Checks that bad answers change no replica's certificate. Returns the number of bad answers. */
async function checkBadAnswers(cluster: RotatingCluster, signer: Signer): Promise<number> {
  const { context, observer, losses } = cluster;
  const answers = [
    [
      'the approver denies the request',
      'Deny',
      /^False \(RequestDenied\) .* was denied \(E2e: e2e denies it\); the operator creates another one at/,
    ],
    ['the signer fails to sign', 'Fail', /^False \(RequestFailed\) .*e2e cannot sign it/],
    ['the signer signs another key', 'WrongKey', /^False \(KeyMismatch\) .*, is still served$/],
    ['the signer does not answer', 'Approve', /^False \(RequestPending\) .* is approved and waits for signer/],
    ['the request is removed', 'Ignore', /^False \(RequestRemoved\) .*removed before it was signed/],
  ] as const;
  for (const [says, behavior, expected] of answers) {
    const since = Date.now();
    const before = observer.common();
    signer.behavior = behavior;
    await renew(cluster);
    const removing = new AbortController();
    const removed = behavior === 'Ignore' ? removeAll(cluster, signer, removing.signal) : undefined;
    await checkSays(cluster, says, expected);
    removing.abort();
    await removed;
    await observer.waitForRound();
    await context.checkNow(`${says}: every replica keeps its certificate`, () => observer.common() === before);
    signer.behavior = 'Sign';
    await observer.waitForOther(before);
    await losses.checkNone(`${says}, then the signer signs`, since);
  }
  return answers.length;
}

/** Deletes unanswered requests, as the CSR cleaner of kube-controller-manager does after a day. */
async function removeAll({ context }: RotatingCluster, signer: Signer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const request of await signer.open()) {
      await sleep(200);
      await context.client.delete(request).catch(() => undefined);
    }
    await sleep(50);
  }
}

/** Kills the leader while a request is open. Checks that the next leader uses this request. */
async function checkLeaderKilled(cluster: RotatingCluster, signer: Signer): Promise<void> {
  const { context, observer, replicas } = cluster;
  const before = observer.common();
  signer.behavior = 'Ignore';
  await renew(cluster);
  const [{ metadata }] = await waitFor('a request', async () => {
    const open = await signer.open();
    return open.length > 0 && (open as [SigningRequest]);
  });
  const leader = await replicas.waitForLeader();
  await replicas.kill(leader);
  await waitFor('another controller to lead', () => replicas.leaderOtherThan(leader));
  await leader.operator.restart();
  const line = `kubectl certificate approve ${metadata.name}`;
  await checkSays(
    cluster,
    'the request still waits for approval after the leader was killed',
    new RegExp(`^False \\(RequestPending\\) .*${line}`),
  );
  signer.behavior = 'Sign';
  await observer.waitForOther(before);
  await context.check('the next leader used the answer to the same request, and created no other request', async () => {
    const requests = await signer.requests();
    const since = requests.slice(requests.findIndex((each) => each.metadata.name === metadata.name));
    return since.length === 1 && since[0]?.status?.certificate !== undefined;
  });
}

async function checkRemoval({ context, namespace }: RotatingCluster, signer: Signer): Promise<void> {
  const { client } = context;
  await deleteForced(client, markedConfig(name, 'one'));
  await context.check('no request and no Secret remain after the InjectorConfig is deleted', async () => {
    const secret = await client.find(secrets, objectNames(name).requestSecret, { namespace });
    return (
      secret === undefined && (await signer.requests()).length === 0 && (await isGone(client, injectorConfigs, name))
    );
  });
}
