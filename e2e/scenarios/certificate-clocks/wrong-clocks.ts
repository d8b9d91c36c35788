import { rotateAnnotation, type RotateTarget } from '../../../src/api/injector-config/rotate-request.ts';
import { applyObject } from '../../harness/apply.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { Clocks } from './clocks.ts';

/** An hour is a minute: a serving certificate lives for 30 hours and is due after 18 to 20, an authority for a year. */
const longLives = {
  leafDuration: '1800h',
  caDuration: '525600h',
  confirmationPeriod: '60s',
  renewalFraction: 0.667,
};
const minute = 60_000;
const day = 24 * 60 * minute;

/** Puts clocks wrong, in `rounds` rounds; returns how many renewals there were, each of which was due or asked for. */
export async function checkWrongClocks(cluster: RotatingCluster, clocks: Clocks, rounds: number): Promise<number> {
  let renewals = 0;
  for (let round = 0; round < rounds; round++) {
    // Other durations have new certificates made at once: each round begins with fresh ones.
    const leafDuration = `${1800 + round}h`;
    const before = cluster.observer.common();
    await applyObject(
      cluster.context.client,
      markedConfig(cluster.name, 'one', { certificate: { ...longLives, leafDuration } }),
    );
    await waitFor(
      'certificates with long lives',
      async () => {
        const leaf = cluster.observer.common();
        const { phase } = await cluster.status();
        const isSettled = phase === 'Stable' || phase === 'Retiring';
        const isFresh = leaf !== undefined && leaf.issuer !== undefined && leaf !== before;
        return isSettled && isFresh && leaf.notAfter.getTime() > Date.now() + day + minute;
      },
      { timeout: 60_000 },
    );
    renewals += await checkSkew(cluster, clocks);
    renewals += await checkJumps(cluster, clocks);
    clocks.set(cluster.replicas.all, 0);
  }
  return renewals;
}

/** Controllers 20 minutes apart, and replicas too; one leads after the other. */
async function checkSkew(cluster: RotatingCluster, clocks: Clocks): Promise<number> {
  const { context, replicas } = cluster;
  const leader = await replicas.waitForLeader();
  const others = replicas.controllers.filter((each) => each !== leader);
  const [, ahead, behind] = replicas.webhooks;
  clocks.set([leader, ...(ahead === undefined ? [] : [ahead])], 10 * minute);
  clocks.set([...others, ...(behind === undefined ? [] : [behind])], -10 * minute);
  await checkNothingRenewed(cluster, 'the leader 10 minutes ahead');
  await leader.operator.process.stop(30_000);
  await context.check(
    'the next leader has a clock 20 minutes behind that of the one before',
    async () => {
      const next = await replicas.leader();
      return next !== undefined && next !== leader;
    },
    { timeout: 40_000 },
  );
  await leader.operator.restart();
  await checkNothingRenewed(cluster, 'the leader 20 minutes behind the one before');
  await checkRenewedOnRequest(cluster, 'authority', 'clocks that differ by 20 minutes');
  return 1;
}

/** The clock of everybody jumps ahead by a day, then to a day behind, then is right again. */
async function checkJumps(cluster: RotatingCluster, clocks: Clocks): Promise<number> {
  const { context, replicas, observer } = cluster;
  const before = observer.common();
  clocks.set(replicas.all, day);
  await pass(cluster);
  const renewed = await observer.waitForOther(before);
  await context.checkNow(
    'clocks jump ahead by a day: the serving certificate, due by then, is renewed, and valid by right clocks too',
    () => renewed.issuer !== undefined && renewed.notAfter.getTime() > Date.now() + day,
  );
  await checkNothingRenewed(cluster, 'clocks a day ahead');
  clocks.set(replicas.all, -day);
  await checkNothingRenewed(cluster, 'clocks a day behind');
  await checkRenewedOnRequest(cluster, 'authority', 'clocks a day behind');
  const old = observer.common();
  clocks.set(replicas.all, 0);
  await pass(cluster);
  const latest = await observer.waitForOther(old);
  await context.checkNow(
    'clocks are right again: what was issued a day behind is due, and renewed hours before it expires',
    () => old !== undefined && latest.issuer !== undefined && old.notAfter.getTime() > Date.now() + 60 * minute,
  );
  await checkNothingRenewed(cluster, 'right clocks');
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

async function checkRenewedOnRequest(cluster: RotatingCluster, target: RotateTarget, clocks: string): Promise<void> {
  const before = cluster.observer.common();
  await cluster.waitForDone(await cluster.request(target));
  const after = await cluster.observer.waitForOther(before);
  await cluster.context.check(`${clocks}: an authority that was asked for is rotated in`, () => {
    return after.issuer !== undefined && after.issuer !== before?.issuer;
  });
}

let passes = 0;

/** Has the operator look at the certificates once: a request that it has to refuse shows when it has. */
async function pass(cluster: RotatingCluster): Promise<void> {
  const value = `nothing:pass${++passes}`;
  const metadata = { annotations: { [rotateAnnotation]: value } };
  await cluster.context.client.patch(markedConfig(cluster.name, 'one'), 'merge', { metadata });
  await waitFor('the operator to look at the certificates', async () => {
    const { rotateRequest } = await cluster.status();
    return rotateRequest?.state === 'Refused' && rotateRequest.nonce === value;
  });
}
