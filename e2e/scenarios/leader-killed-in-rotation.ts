import type { AuditEvent } from '../harness/audit-log.ts';
import { countedWrites, describeAudited, identityOf } from '../harness/faulty-proxy/passed-writes.ts';
import type { PassedWrite } from '../harness/faulty-proxy/faulty-proxy-worker.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { LeaderKiller } from '../harness/replicas/leader-killer.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { rotatingFlags, startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { none, waitFor } from '../harness/wait-for.ts';

const certificate = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '60s' };
const flags = [
  ...rotatingFlags,
  shortLeases,
  // Pod counts would change the status with the load. Compare only the writes of the rotation.
  '--no-follow-pods',
];

/** The writes of the short size: the new bundle, and the record with the new authority's leaf. */
const riskiest = [
  'Publishing: patch mutatingwebhookconfigurations',
  'Retiring: patch secrets',
  'Retiring: patch injectorconfigs/status',
];

export const leaderKilledInRotation: Scenario = {
  name: 'leader-killed-in-rotation',
  about:
    'the leader is killed after each kind of write of a rotation of the authority; the rotation makes the same writes as an undisturbed rotation, and no pod is lost',
  full: 'the leader is killed twice after each write, and is once restarted and once replaced by another leader, about 8 minutes',
  run: async (context) => {
    const options = { name: 'killed', certificate, flags, proxied: true, perSecond: 20 };
    const cluster = await startRotatingCluster(context, options);
    const { losses } = cluster;
    const plan = await rotateUndisturbed(cluster);
    for (const write of plan) context.say(describeWrite(write));
    const positions = plan.map((_, index) => index + 1);
    const short = riskiest.map((each) => 1 + plan.findIndex((write) => describeWrite(write).startsWith(each)));
    const trials =
      context.size === 'short'
        ? [{ positions: short, isRestarted: true }]
        : [true, false].flatMap((isRestarted) => positions.map((position) => ({ positions: [position], isRestarted })));
    const since = Date.now();
    let slowest = 0;
    for (const { positions, isRestarted } of trials)
      slowest = Math.max(slowest, await rotateKilled(cluster, plan, positions, isRestarted));
    const kills = trials.flatMap((trial) => trial.positions).length;
    const created = await losses.checkNone(`while ${kills} leaders were killed in ${trials.length} rotations`, since);
    await cluster.checkNoViolations('no replica served a certificate that the bundle does not verify', since);
    context.measured({ writes: plan.map(describeWrite), kills, created, lost: 0, slowestMilliseconds: slowest });
    return `a rotation has ${plan.length} writes; ${kills} leaders were killed after a write: every rotation completed, the slowest within ${slowest} ms after the kill; ${created} pods created, 0 lost`;
  },
};

/** The timeout for the end of a rotation after a kill, in milliseconds. */
const patience = 60_000;

/**
 * Kills the leader between a write of a rotation and the response, for the first write at each of
 * some positions of the plan. Checks how the rotation continues. Returns the milliseconds from the
 * last kill to the end of the rotation.
 *
 * @param isRestarted whether the leader restarts immediately, or after another controller leads
 */
async function rotateKilled(
  cluster: RotatingCluster,
  plan: readonly RotationWrite[],
  positions: readonly number[],
  isRestarted: boolean,
): Promise<number> {
  const { context, replicas, observer } = cluster;
  const issuer = observer.common()?.issuer;
  const leader = await replicas.waitForLeader();
  const since = Date.now();
  const keys = keysOf(plan);
  const left = new Map(positions.map((position) => [keys[position - 1] ?? '', position]));
  const read = writeReader(cluster);
  const seen: RotationWrite[] = [];
  const killer = await LeaderKiller.start(replicas, {
    isRestarted,
    isFatal: (write) => {
      seen.push(read(write));
      return left.delete(keysOf(seen).at(-1) ?? '');
    },
  });
  const nonce = await cluster.request('authority-force');
  await waitForEnd(cluster, nonce, patience);
  const took = Date.now() - (killer.deaths.at(-1) ?? 0);
  // After the last write, the rotation has already ended, so the next leader must write nothing.
  if (!isRestarted)
    await waitFor('another controller to lead', () => replicas.leaderOtherThan(leader), { timeout: patience });
  await killer.end();
  if (left.size > 0) throw new Error(`the rotation never made the writes ${[...left.keys()].join(', ')}`);
  await observer.waitForRound();
  const how = isRestarted ? 'was restarted' : 'was replaced by another leader';
  for (const position of positions) {
    const target = plan[position - 1];
    const what = target === undefined ? '' : describeWrite(target);
    await context.check(
      `the leader was killed after write ${position} (${what}) and ${how}: the rotation completed after ${took} ms`,
      () => {
        const common = observer.common();
        return common?.issuer !== undefined && common.issuer !== issuer && observer.authorities.length === 1;
      },
    );
  }
  const writes = await writesSince(cluster, since);
  const faults = faultsOf(writes, plan);
  await context.checkNow(
    `the ${writes.length} writes of this rotation also occur in an undisturbed rotation, and repeated writes have the same content`,
    () => none(faults),
  );
  return took;
}

/** Describes writes that are not planned, and repeats that differ (a second authority). */
function faultsOf(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  return [...new Set(writes.map(describeWrite))].flatMap((what) => {
    const planned = plan.filter((write) => describeWrite(write) === what).length;
    const contents = new Set(writes.filter((write) => describeWrite(write) === what).map(({ body }) => body)).size;
    if (planned === 0) return [`not planned: ${what}`];
    return contents > planned ? [`written with ${contents} contents instead of ${planned}: ${what}`] : [];
  });
}

interface RotationWrite {
  verb: string;
  resource: string;
  name: string;
  /** The phase in the rotation record: `Stable`, `Publishing`, `Confirming` or `Retiring`. */
  phase: string;
  /** The body, without the fields that the API server or the time determines. */
  body: string;
}

/** Rotates the authority. Returns the controllers' writes as the proxy saw them, in order. */
async function rotateUndisturbed(cluster: RotatingCluster): Promise<RotationWrite[]> {
  const { context, audit, namespace, replicas } = cluster;
  // The first rotation also has writes that controllers make only once after their start.
  const before = Date.now();
  await waitForEnd(cluster, await cluster.request('authority-force'));
  // Wait for late writes of that rotation.
  await writesSince(cluster, before);
  const since = Date.now();
  await waitForEnd(cluster, await cluster.request('authority-force'));
  const writes = await writesSince(cluster, since);
  const written = writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  const isProbe = ({ objectRef }: AuditEvent): boolean => (objectRef?.namespace ?? namespace) !== namespace;
  const byOperator = audit.writesBy(replicas.installation.username).filter((event) => !isProbe(event));
  const audited = describeAudited(byOperator, since);
  await context.checkNow(
    `the audit log has the ${writes.length} writes that the proxy saw in an undisturbed rotation`,
    () => writes.length > 0 && written.join('\n') === audited.join('\n'),
  );
  return writes;
}

/** Waits for the end of a forced rotation: its request is done, and no authority is retiring. */
async function waitForEnd(cluster: RotatingCluster, nonce: string, timeout = 60_000): Promise<void> {
  await cluster.waitForDone(nonce, timeout);
  await waitFor('the rotation to have ended', async () => (await cluster.status()).phase === 'Stable', { timeout });
}

/** Waits until the controllers are idle, and returns their writes since a time. */
async function writesSince(cluster: RotatingCluster, since: number): Promise<RotationWrite[]> {
  return (await countedWrites(cluster.replicas, since)).map(writeReader(cluster));
}

/** Returns a function that reads writes in order, and adds the phase of the rotation. */
function writeReader({ names }: RotatingCluster): (write: PassedWrite) => RotationWrite {
  let phase = 'Stable';
  return (write) => {
    const { resource, name, body } = write;
    if (resource === 'secrets' && name === names.authoritySecret) phase = phaseIn(body);
    return { ...identityOf(write), phase, body: essence(body) };
  };
}

/** Formats a write without its body. Two writes of one rotation may have the same text. */
function describeWrite({ verb, resource, name, phase }: Omit<RotationWrite, 'body'>): string {
  return `${phase}: ${verb} ${resource} ${name}`;
}

/** Formats each write, with its ordinal among the writes of the same text. */
function keysOf(writes: readonly RotationWrite[]): string[] {
  const texts = writes.map(describeWrite);
  return texts.map((text, index) => `${text} no. ${texts.slice(0, index + 1).filter((each) => each === text).length}`);
}

function phaseIn(body: string): string {
  const { data, stringData } = JSON.parse(body) as Partial<Record<'data' | 'stringData', Record<string, string>>>;
  const json = stringData?.['rotation.json'] ?? Buffer.from(data?.['rotation.json'] ?? '', 'base64').toString('utf8');
  const { staged, retiring = [] } = JSON.parse(json) as { staged?: { publishedAt?: string }; retiring?: unknown[] };
  if (staged !== undefined) return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

function essence(body: string): string {
  return body.replace(/"(resourceVersion|lastTransitionTime)":"[^"]*"/g, '"$1":""');
}
