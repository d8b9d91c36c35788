import { objectNames } from '../../../src/api/names.ts';
import { parseBundle } from '../../../src/certs/read-certificate.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { applyObject, isGone, objectOf } from '../../harness/apply.ts';
import { companyAuthority } from '../../harness/company-authority.ts';
import { checkCondition, deleteForced, injectorConfigs } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { Signer, type SigningRequest } from '../../harness/signer.ts';
import { shortTerms, type RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';

const name = 'requested';
const signerName = 'e2e.example.com/serving';
const certificate = {
  ...shortTerms,
  provider: 'CertificateSigningRequest',
  signerName,
  expirationSeconds: 600,
  caBundleFrom: { name: 'signer-roots' },
  renewalFraction: 0.3,
};
/** Renewals of certificates that are about to expire, and renewals that the runbook causes. */
const renewals = { expiring: 1, requested: 1 };
/** The lifetime of the certificates that expire, in milliseconds. They are renewed after 9 s. */
const shortLife = 30_000;

/** Starts a signer. Returns it with the options of a cluster whose certificates it signs. */
export async function startSigner(context: ScenarioContext) {
  const root = await companyAuthority('signer');
  const signer = Signer.start(context, signerName, root);
  const before = (namespace: string) => writeRoots(context.client, namespace, root.root);
  return { signer, options: { name, certificate, before } };
}

/** Checks renewals, bad answers of the signer, and a new root. Returns figures. */
export async function checkRequests(cluster: RotatingCluster, signer: Signer) {
  const { context, observer } = cluster;
  const since = Date.now();
  const handshakes = observer.handshakes;
  const seen = await checkRenewals(cluster, signer);
  const remade = await checkBadAnswers(cluster, signer);
  const before = observer.common();
  const { root } = signer.authority;
  const successor = await companyAuthority('signer next');
  signer.authority = successor;
  // A new expirationSeconds causes a new request.
  const changed = { ...certificate, expirationSeconds: 700 };
  await applyObject(context.client, markedConfig(name, 'one', { certificate: changed }));
  await checkSays(cluster, 'the new root is not trusted yet', /^True \(RenewalPending\) .*no valid chain/);
  await context.checkNow(
    'every replica keeps its certificate while the new root is not trusted',
    () => observer.common() === before,
  );
  await writeRoots(context.client, cluster.namespace, root + successor.root);
  await observer.waitForOther(before);
  await context.check(
    'once the new root is trusted, replicas serve a certificate that the new root signed, and the bundle contains both roots',
    async () => {
      const trusted = parseBundle(await cluster.bundle()).map(({ pem }) => pem);
      return [root, successor.root].every((pem) => trusted.includes(pem));
    },
  );
  return { since, handshakes, seen, remade };
}

/** Kills the leader, checks the losses since the first request, and deletes the InjectorConfig. */
export async function checkEnd(
  cluster: RotatingCluster,
  signer: Signer,
  { since, handshakes, seen, remade }: Awaited<ReturnType<typeof checkRequests>>,
): Promise<void> {
  await checkLeaderKilled(cluster, signer);
  const statement = `during ${seen} renewals, ${remade} bad answers, a killed leader and a new root`;
  await cluster.losses.checkNone(statement, since);
  const observed = cluster.observer.handshakes - handshakes;
  await cluster.checkNoViolations(
    `the live bundle verified the certificate of each of the observer's ${observed} handshakes`,
    since,
  );
  await cluster.stop();
  await checkRemoval(cluster, signer);
}

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
  await waitFor(`${renewals.expiring} renewals`, () => observer.leaves.size >= expiring);
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
  ] as const;
  for (const [says, behavior, expected] of answers) {
    const since = Date.now();
    const before = observer.common();
    signer.behavior = behavior;
    await renew(cluster);
    await checkSays(cluster, says, expected);
    await observer.waitForRound();
    await context.checkNow(`${says}: every replica keeps its certificate`, () => observer.common() === before);
    signer.behavior = 'Sign';
    await observer.waitForOther(before);
    await losses.checkNone(`${says}, then the signer signs`, since);
  }
  return answers.length;
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
