import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateAnnotation } from '../../src/api/injector-config/rotate-request.ts';
import { parseBundle } from '../../src/certs/read-certificate.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject } from '../harness/apply.ts';
import { follow } from '../harness/follow.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import type { Replica } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import {
  decoded,
  rotatingFlags,
  startRotatingCluster,
  type RotatingCluster,
} from '../harness/tls-observer/rotating-cluster.ts';
import { none, waitFor } from '../harness/wait-for.ts';

export const certificateClocks: Scenario = {
  name: 'certificate-clocks',
  about:
    'certificates that live for seconds are renewed before they expire, although clocks differ by 20 minutes and jump by a day; no renewal happens too early or too late, and no pod is lost',
  full: '5 minutes with certificates that live for seconds, 10 rounds of wrong clocks, about 9 minutes',
  alone: 'it has not been run beside another scenario yet',
  run: async (context) => {
    const isFull = context.size === 'full';
    const flags = (name: string) => [...rotatingFlags, `--test-clock-offset-file=${clockFile(context, name)}`];
    const options = { name: 'clocks', certificate: shortLives, flags, perSecond: 15 };
    const cluster = await startRotatingCluster(context, options);
    const { losses, load } = cluster;
    const since = Date.now();
    const crossed = await crossExpiry(cluster, isFull ? 300_000 : 0);
    const renewals = await checkWrongClocks(cluster, isFull ? 10 : 1);
    const created = await losses.checkNone('with short-lived certificates and wrong clocks', since);
    await cluster.checkNoViolations(
      'no replica served an expired certificate or one that the bundle does not verify',
      since,
    );
    await load.stop();
    context.measured({ ...crossed, renewalsWithWrongClocks: renewals, created, lost: 0 });
    return `${crossed.expiredLeaves} serving certificates and ${crossed.expiredAuthorities} authorities were renewed and then expired; ${renewals} renewals with wrong clocks, no renewal too early or missed; ${created} pods created, 0 lost`;
  },
};

// An hour passes in a minute: leaves live for 12 s, authorities for 20 s; both renew at 45 to 50 %.
const shortLives = { leafDuration: '12m', caDuration: '20m', confirmationPeriod: '60s', renewalFraction: 0.5 };
const earliestShare = 0.45;

interface Issued {
  issuer: string;
  issuedAt: number;
  notAfter: number;
}

/** Follows rotation records for `milliseconds`, or longer until a leaf and a CA have expired. */
async function crossExpiry(cluster: RotatingCluster, milliseconds: number) {
  const { context, observer } = cluster;
  const leaves = new Map<string, Issued>();
  const authorities = new Map<string, Issued>();
  const until = Date.now() + milliseconds;
  const expired = (all: Map<string, Issued>) => [...all.values()].filter(({ notAfter }) => notAfter < Date.now());
  const deadline = until + 150_000;
  const selected = { namespace: cluster.namespace, fieldSelector: `metadata.name=${cluster.names.authoritySecret}` };
  // Use a watch, because polling would miss versions on a slow machine.
  const follower = await follow(context, resourceKind('v1', 'Secret'), selected, (secret) => {
    note(decoded(secret), leaves, authorities);
  });
  try {
    while (Date.now() < until || expired(leaves).length === 0 || expired(authorities).length === 0) {
      if (Date.now() > deadline) throw new Error('no authority has expired within 150 s');
      await sleep(200);
    }
  } finally {
    await follower.stop();
  }
  const wrong = [...faults(leaves, 'serving certificate'), ...faults(authorities, 'authority')];
  await context.checkNow(
    `each of the ${expired(leaves).length} serving certificates and ${expired(authorities).length} authorities that expired was renewed between ${earliestShare * 100} and 100 % of its life`,
    () => none(wrong),
  );
  await context.check('the bundle contains no expired authority', async () => {
    const bundle = parseBundle(await cluster.bundle());
    return bundle.length > 0 && bundle.every(({ notAfter }) => notAfter.getTime() > Date.now());
  });
  await context.check('every replica serves a valid certificate of a valid authority', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.notAfter.getTime() > Date.now();
  });
  const figures = { expiredLeaves: expired(leaves).length, expiredAuthorities: expired(authorities).length };
  return { leaves: leaves.size, authorities: authorities.size, ...figures };
}

/** Adds the certificates of one version of the authority's Secret to the maps, by fingerprint. */
function note(stored: Record<string, string>, leaves: Map<string, Issued>, authorities: Map<string, Issued>): void {
  const record = JSON.parse(stored['rotation.json'] ?? '{}') as Partial<
    Record<'leaf' | 'authority', { fingerprint: string; terms: { issuedAt: string } }>
  >;
  const add = (name: 'tls' | 'ca', part: typeof record.leaf, into: Map<string, Issued>) => {
    const [certificate] = parseBundle(stored[`${name}.crt`] ?? '');
    if (part === undefined || certificate?.fingerprint !== part.fingerprint || into.has(part.fingerprint)) return;
    into.set(part.fingerprint, {
      issuer: certificate.x509.issuer,
      issuedAt: Date.parse(part.terms.issuedAt),
      notAfter: certificate.notAfter.getTime(),
    });
  };
  add('tls', record.leaf, leaves);
  add('ca', record.authority, authorities);
}

/** Describes renewals that were too early or too late. A new CA may cause an early leaf renewal. */
function faults(issued: Map<string, Issued>, what: string): string[] {
  const all = [...issued.values()].sort((left, right) => left.issuedAt - right.issuedAt);
  return all.slice(1).flatMap((next, index) => {
    const before = all[index];
    if (before === undefined) return [];
    const share = (next.issuedAt - before.issuedAt) / (before.notAfter - before.issuedAt);
    const isScheduled = what === 'authority' || next.issuer === before.issuer;
    if (share >= 1) return [`a ${what} was renewed after ${Math.round(share * 100)} % of its life`];
    return isScheduled && share < earliestShare
      ? [`a ${what} was renewed at ${Math.round(share * 100)} % of its life`]
      : [];
  });
}

// An hour passes in a minute: leaves live for 30 h and renew after 18 to 20 h; CAs live for a year.
const longLives = { leafDuration: '1800h', caDuration: '525600h', confirmationPeriod: '60s', renewalFraction: 0.667 };
const minute = 60_000;
const day = 24 * 60 * minute;

async function checkWrongClocks(cluster: RotatingCluster, rounds: number): Promise<number> {
  let renewals = 0;
  for (let round = 0; round < rounds; round++) {
    // A changed duration causes an immediate renewal: each round begins with a new certificate.
    const leafDuration = `${1800 + round}h`;
    const before = cluster.observer.common();
    const certificate = { ...longLives, leafDuration };
    await applyObject(cluster.context.client, markedConfig(cluster.name, 'one', { certificate }));
    await waitFor('a certificate with a long life to be served', async () => {
      const leaf = cluster.observer.common();
      const { phase } = await cluster.status();
      const isSettled = phase === 'Stable' || phase === 'Retiring';
      const isNew = leaf !== undefined && leaf.issuer !== undefined && leaf !== before;
      return isSettled && isNew && leaf.notAfter.getTime() > Date.now() + day + minute;
    });
    renewals += await checkSkew(cluster);
    renewals += await checkJumps(cluster);
    setClocks(cluster, cluster.replicas.all, 0);
  }
  return renewals;
}

/** Sets clocks 20 minutes apart, and makes the second controller the leader. */
async function checkSkew(cluster: RotatingCluster): Promise<number> {
  const { context, replicas } = cluster;
  const leader = await replicas.waitForLeader();
  const others = replicas.controllers.filter((each) => each !== leader);
  setClocks(cluster, [leader, ...replicas.webhooks.slice(1, 2)], 10 * minute);
  setClocks(cluster, [...others, ...replicas.webhooks.slice(2)], -10 * minute);
  await checkNothingRenewed(cluster, "the leader's clock is 10 minutes ahead");
  await leader.operator.process.stop(30_000);
  await context.check(
    "the controller whose clock is 20 minutes behind the first leader's clock becomes the leader",
    () => replicas.leaderOtherThan(leader),
    { timeout: 40_000 },
  );
  await leader.operator.restart();
  await checkNothingRenewed(cluster, "the leader's clock is 20 minutes behind the previous leader's clock");
  await checkRenewedOnRequest(cluster, 'clocks differ by 20 minutes');
  return 1;
}

/** Sets all clocks a day ahead, a day behind, and right again. Returns the number of renewals. */
async function checkJumps(cluster: RotatingCluster): Promise<number> {
  const { context, replicas, observer } = cluster;
  const before = observer.common();
  setClocks(cluster, replicas.all, day);
  await pass(cluster);
  const renewed = await observer.waitForOther(before);
  await context.checkNow(
    'when clocks jump ahead by a day, the operator renews the serving certificate, and the new certificate is also valid by right clocks',
    () => renewed.issuer !== undefined && renewed.notAfter.getTime() > Date.now() + day,
  );
  await checkNothingRenewed(cluster, 'clocks are a day ahead');
  setClocks(cluster, replicas.all, -day);
  await checkNothingRenewed(cluster, 'clocks are a day behind');
  await checkRenewedOnRequest(cluster, 'clocks are a day behind');
  const old = observer.common();
  setClocks(cluster, replicas.all, 0);
  await pass(cluster);
  const latest = await observer.waitForOther(old);
  await context.checkNow(
    'when clocks are right again, the operator renews the certificate that it issued while clocks were a day behind, more than an hour before the certificate expires',
    () => old !== undefined && latest.issuer !== undefined && old.notAfter.getTime() > Date.now() + 60 * minute,
  );
  await checkNothingRenewed(cluster, 'clocks are right');
  return 3;
}

async function checkNothingRenewed(cluster: RotatingCluster, clocks: string): Promise<void> {
  const { context, observer } = cluster;
  const before = observer.common();
  await pass(cluster);
  await pass(cluster);
  await observer.waitForRound();
  await context.checkNow(`${clocks}: nothing is renewed`, () => before !== undefined && observer.common() === before);
}

async function checkRenewedOnRequest(cluster: RotatingCluster, clocks: string): Promise<void> {
  const before = cluster.observer.common();
  await cluster.waitForDone(await cluster.request('authority'));
  const after = await cluster.observer.waitForOther(before);
  await cluster.context.check(`${clocks}: a requested rotation brings a new authority`, () => {
    return after.issuer !== undefined && after.issuer !== before?.issuer;
  });
}

let passes = 0;

/** Triggers a pass with an invalid rotation request, and waits until the operator refuses it. */
async function pass(cluster: RotatingCluster): Promise<void> {
  const value = `nothing:pass${++passes}`;
  const metadata = { annotations: { [rotateAnnotation]: value } };
  await cluster.context.client.patch(markedConfig(cluster.name, 'one'), 'merge', { metadata });
  await waitFor('the operator to refuse the rotation request', async () => {
    const { rotateRequest } = await cluster.status();
    return rotateRequest?.state === 'Refused' && rotateRequest.nonce === value;
  });
}

/** Returns the path of the file with the offset of a replica's clock, in milliseconds. */
function clockFile({ cluster }: ScenarioContext, name: string): string {
  return join(cluster.run.path, `clock-${name}`);
}

function setClocks({ context }: RotatingCluster, replicas: readonly Replica[], milliseconds: number): void {
  for (const { name } of replicas) writeFileSync(clockFile(context, name), `${milliseconds}\n`);
}
