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
    'serving certificates and authorities live for seconds and are renewed before they end; clocks differ by 20 minutes and jump by a day: no renewal too soon, none missed, nothing lost',
  full: '5 minutes of lives of seconds, 10 rounds of wrong clocks, about 9 minutes',
  run: async (context) => {
    const isFull = context.size === 'full';
    const flags = (name: string) => [...rotatingFlags, `--test-clock-offset-file=${clockFile(context, name)}`];
    const options = { name: 'clocks', certificate: shortLives, flags, perSecond: 15 };
    const cluster = await startRotatingCluster(context, options);
    const { losses, load } = cluster;
    const since = Date.now();
    const crossed = await crossExpiry(cluster, isFull ? 300_000 : 0);
    const renewals = await checkWrongClocks(cluster, isFull ? 10 : 1);
    const created = await losses.checkNone('lives of seconds and wrong clocks', since);
    await cluster.checkNoViolations(
      'no replica was ever seen with a certificate that has expired or that the bundle does not verify',
      since,
    );
    await load.stop();
    context.measured({ ...crossed, renewalsWithWrongClocks: renewals, created, lost: 0 });
    return `${crossed.expiredLeaves} serving certificates and ${crossed.expiredAuthorities} authorities renewed and seen to expire; ${renewals} renewals with wrong clocks, none too soon, none missed; ${created} pods: 0 lost`;
  },
};

/** An hour is a minute: a serving certificate lives for 12 s and an authority for 20, both are renewed at half of it, or up to a tenth earlier. */
const shortLives = { leafDuration: '12m', caDuration: '20m', confirmationPeriod: '60s', renewalFraction: 0.5 };
/** The earliest share of a life at which a renewal may come. */
const earliestShare = 0.45;

interface Issued {
  issuer: string;
  issuedAt: number;
  notAfter: number;
}

/** Follows the rotation's record until a serving certificate and an authority have expired, and for `milliseconds` at least; checks when each was renewed. */
async function crossExpiry(cluster: RotatingCluster, milliseconds: number) {
  const { context, observer } = cluster;
  const leaves = new Map<string, Issued>();
  const authorities = new Map<string, Issued>();
  const until = Date.now() + milliseconds;
  const expired = (all: Map<string, Issued>) => [...all.values()].filter(({ notAfter }) => notAfter < Date.now());
  const giveUp = until + 150_000;
  const selected = { namespace: cluster.namespace, fieldSelector: `metadata.name=${cluster.names.authoritySecret}` };
  // By a watch: who only looked now and then would miss some versions on a slow machine.
  const follower = await follow(context, resourceKind('v1', 'Secret'), selected, (secret) => {
    note(decoded(secret), leaves, authorities);
  });
  try {
    while (Date.now() < until || expired(leaves).length === 0 || expired(authorities).length === 0) {
      if (Date.now() > giveUp) throw new Error('no authority has expired although its life is over');
      await sleep(200);
    }
  } finally {
    await follower.stop();
  }
  const early = [...faults(leaves, 'serving certificate'), ...faults(authorities, 'authority')];
  await context.checkNow(
    `${expired(leaves).length} serving certificates and ${expired(authorities).length} authorities have expired, each renewed before, none before ${earliestShare * 100} % of its life`,
    () => none(early),
  );
  await context.check('authorities that have expired are no longer in the bundle', async () => {
    const bundle = parseBundle(await cluster.bundle());
    return bundle.length > 0 && bundle.every(({ notAfter }) => notAfter.getTime() > Date.now());
  });
  await context.check('and every replica serves a certificate of one that has not', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.notAfter.getTime() > Date.now();
  });
  const figures = { expiredLeaves: expired(leaves).length, expiredAuthorities: expired(authorities).length };
  return { leaves: leaves.size, authorities: authorities.size, ...figures };
}

/** Takes down what a version of the authority's Secret holds. */
function note(stored: Record<string, string>, leaves: Map<string, Issued>, authorities: Map<string, Issued>): void {
  const record = JSON.parse(stored['rotation.json'] ?? '{}') as Partial<
    Record<'leaf' | 'authority', { fingerprint: string; terms: { issuedAt: string } }>
  >;
  const take = (name: 'tls' | 'ca', part: typeof record.leaf, into: Map<string, Issued>) => {
    const [certificate] = parseBundle(stored[`${name}.crt`] ?? '');
    if (part === undefined || certificate?.fingerprint !== part.fingerprint || into.has(part.fingerprint)) return;
    into.set(part.fingerprint, {
      issuer: certificate.x509.issuer,
      issuedAt: Date.parse(part.terms.issuedAt),
      notAfter: certificate.notAfter.getTime(),
    });
  };
  take('tls', record.leaf, leaves);
  take('ca', record.authority, authorities);
}

/** Renewals that came too soon or too late. A new authority brings a new serving certificate with it, whenever that is. */
function faults(issued: Map<string, Issued>, what: string): string[] {
  const all = [...issued.values()].sort((left, right) => left.issuedAt - right.issuedAt);
  return all.slice(1).flatMap((next, index) => {
    const before = all[index];
    if (before === undefined) return [];
    const share = (next.issuedAt - before.issuedAt) / (before.notAfter - before.issuedAt);
    const isByTime = what === 'authority' || next.issuer === before.issuer;
    if (share >= 1) return [`a ${what} was renewed after ${Math.round(share * 100)} % of its life`];
    return isByTime && share < earliestShare
      ? [`a ${what} was renewed at ${Math.round(share * 100)} % of its life`]
      : [];
  });
}

/** An hour is a minute: a serving certificate lives for 30 hours and is due after 18 to 20, an authority for a year. */
const longLives = { leafDuration: '1800h', caDuration: '525600h', confirmationPeriod: '60s', renewalFraction: 0.667 };
const minute = 60_000;
const day = 24 * 60 * minute;

async function checkWrongClocks(cluster: RotatingCluster, rounds: number): Promise<number> {
  let renewals = 0;
  for (let round = 0; round < rounds; round++) {
    // Other durations have new certificates made at once: each round begins with fresh ones.
    const leafDuration = `${1800 + round}h`;
    const before = cluster.observer.common();
    const certificate = { ...longLives, leafDuration };
    await applyObject(cluster.context.client, markedConfig(cluster.name, 'one', { certificate }));
    await waitFor('certificates with long lives', async () => {
      const leaf = cluster.observer.common();
      const { phase } = await cluster.status();
      const isSettled = phase === 'Stable' || phase === 'Retiring';
      const isFresh = leaf !== undefined && leaf.issuer !== undefined && leaf !== before;
      return isSettled && isFresh && leaf.notAfter.getTime() > Date.now() + day + minute;
    });
    renewals += await checkSkew(cluster);
    renewals += await checkJumps(cluster);
    setClocks(cluster, cluster.replicas.all, 0);
  }
  return renewals;
}

/** Controllers 20 minutes apart, and replicas too; one leads after the other. */
async function checkSkew(cluster: RotatingCluster): Promise<number> {
  const { context, replicas } = cluster;
  const leader = await replicas.waitForLeader();
  const others = replicas.controllers.filter((each) => each !== leader);
  setClocks(cluster, [leader, ...replicas.webhooks.slice(1, 2)], 10 * minute);
  setClocks(cluster, [...others, ...replicas.webhooks.slice(2)], -10 * minute);
  await checkNothingRenewed(cluster, 'the leader 10 minutes ahead');
  await leader.operator.process.stop(30_000);
  await context.check(
    'the next leader has a clock 20 minutes behind that of the one before',
    () => replicas.leaderOtherThan(leader),
    { timeout: 40_000 },
  );
  await leader.operator.restart();
  await checkNothingRenewed(cluster, 'the leader 20 minutes behind the one before');
  await checkRenewedOnRequest(cluster, 'clocks that differ by 20 minutes');
  return 1;
}

/** The clock of everybody jumps ahead by a day, then to a day behind, then is right again. */
async function checkJumps(cluster: RotatingCluster): Promise<number> {
  const { context, replicas, observer } = cluster;
  const before = observer.common();
  setClocks(cluster, replicas.all, day);
  await pass(cluster);
  const renewed = await observer.waitForOther(before);
  await context.checkNow(
    'clocks jump ahead by a day: the serving certificate, due by then, is renewed, and valid by right clocks too',
    () => renewed.issuer !== undefined && renewed.notAfter.getTime() > Date.now() + day,
  );
  await checkNothingRenewed(cluster, 'clocks a day ahead');
  setClocks(cluster, replicas.all, -day);
  await checkNothingRenewed(cluster, 'clocks a day behind');
  await checkRenewedOnRequest(cluster, 'clocks a day behind');
  const old = observer.common();
  setClocks(cluster, replicas.all, 0);
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

async function checkRenewedOnRequest(cluster: RotatingCluster, clocks: string): Promise<void> {
  const before = cluster.observer.common();
  await cluster.waitForDone(await cluster.request('authority'));
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

/** By how much the clock of a replica is wrong stands here. */
function clockFile({ cluster }: ScenarioContext, name: string): string {
  return join(cluster.run.path, `clock-${name}`);
}

function setClocks({ context }: RotatingCluster, replicas: readonly Replica[], milliseconds: number): void {
  for (const { name } of replicas) writeFileSync(clockFile(context, name), `${milliseconds}\n`);
}
