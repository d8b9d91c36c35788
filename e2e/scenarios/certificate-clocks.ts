import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rotateAnnotation } from '../../src/api/injector-config/rotate-request.ts';
import { applyObject } from '../harness/apply.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import type { Replica } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { rotatingFlags, startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { crossExpiry } from './certificate-cases/expiry.ts';

export const certificateClocks: Scenario = {
  name: 'certificate-clocks',
  about:
    'certificates that live for seconds are renewed before they expire, although clocks differ by 20 minutes and jump by a day; no renewal happens too early or too late, and no pod is lost',
  full: '5 minutes with certificates that live for seconds, 10 rounds of wrong clocks, about 9 minutes',
  onlyGate: true,
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
