import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEvent } from '../harness/audit-log.ts';
import { countedWrites, describeAudited, identityOf } from '../harness/faulty-proxy/passed-writes.ts';
import { shortLeases } from '../harness/operator-process.ts';
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

export const leaderKilledInRotation: Scenario = {
  name: 'leader-killed-in-rotation',
  about:
    'the leader is killed after each write of a rotation of the authority; each rotation makes the same writes as an undisturbed rotation, and no pod is lost',
  full: 'the leader is killed twice after each write, and is once restarted and once replaced by another leader, about 8 minutes',
  alone: 'it has not been run beside another scenario yet',
  run: async (context) => {
    const options = { name: 'killed', certificate, flags, proxied: true, perSecond: 20 };
    const cluster = await startRotatingCluster(context, options);
    const { losses } = cluster;
    const plan = await rotateUndisturbed(cluster);
    for (const write of plan) context.say(describeWrite(write));
    const isFull = context.size === 'full';
    const chosen = plan.map((_, index) => index + 1).filter((position) => isFull || isRiskiest(plan, position));
    const since = Date.now();
    let kills = 0;
    let slowest = 0;
    for (const position of chosen) {
      for (const isRestarted of isFull ? [true, false] : [true]) {
        const took = await killAfterWrite(cluster, plan, position, isRestarted);
        slowest = Math.max(slowest, took);
        kills++;
      }
    }
    const created = await losses.checkNone(`while ${kills} leaders were killed in ${kills} rotations`, since);
    await cluster.checkNoViolations('no replica served a certificate that the bundle does not verify', since);
    context.measured({ writes: plan.map(describeWrite), kills, created, lost: 0, slowestMilliseconds: slowest });
    return `a rotation has ${plan.length} writes; ${kills} leaders were killed after a write: every rotation completed, the slowest within ${slowest} ms after the kill; ${created} pods created, 0 lost`;
  },
};

/** Reports whether a write is the new bundle, or the record with the new authority's first leaf. */
function isRiskiest(plan: readonly { resource: string; name: string; phase: string }[], position: number): boolean {
  const write = plan[position - 1];
  if (write === undefined) return false;
  const isSame = (other: typeof write) => other.resource === write.resource && other.phase === write.phase;
  const isFirst = plan.findIndex(isSame) === position - 1;
  const isBundle = write.resource === 'mutatingwebhookconfigurations' && write.phase === 'Publishing';
  return isFirst && (isBundle || (write.resource === 'secrets' && write.phase === 'Retiring'));
}

/** The timeout for reaching a write, and for the end of the rotation after a kill, in ms. */
const patience = 60_000;

/**
 * Kills the leader between the write at `position` of a rotation and the response. Checks how the
 * rotation continues. Returns the milliseconds from the kill to the end of the rotation.
 *
 * @param isRestarted whether the leader restarts immediately, or after another controller leads
 */
async function killAfterWrite(
  cluster: RotatingCluster,
  plan: readonly RotationWrite[],
  position: number,
  isRestarted: boolean,
): Promise<number> {
  const { context, replicas, observer } = cluster;
  const { proxy } = replicas;
  const target = plan[position - 1];
  if (target === undefined) throw new Error('the plan has no such write');
  const leader = await replicas.waitForLeader();
  const issuer = observer.common()?.issuer;
  const resources = [...new Set(plan.map(({ resource }) => resource.split('/')[0] ?? ''))];
  const verbs = [...new Set(plan.map(({ verb }) => verb))];
  const since = Date.now();
  const held = await proxy.holdWrite({ client: leader.name, resources, verbs }, position);
  const nonce = await cluster.request('authority-force');
  const reached = await Promise.race([held.reached, sleep(patience, undefined, { ref: false })]);
  if (reached === undefined) throw new Error(`the rotation never reached its write ${position}`);
  const killed = await replicas.kill(leader);
  await held.release();
  if (isRestarted) await leader.operator.restart();
  await waitForEnd(cluster, nonce, patience);
  const took = Date.now() - killed;
  if (!isRestarted) {
    // After the last write, the rotation has already ended, so the next leader must write nothing.
    await waitFor('another controller to lead', () => replicas.leaderOtherThan(leader), { timeout: patience });
    await leader.operator.restart();
  }
  await observer.waitForRound();
  const how = isRestarted ? 'was restarted' : 'was replaced by another leader';
  await context.check(
    `the leader was killed after write ${position} (${describeWrite(target)}) and ${how}: the rotation completed after ${took} ms`,
    () => {
      const common = observer.common();
      return common?.issuer !== undefined && common.issuer !== issuer && observer.authorities.length === 1;
    },
  );
  const writes = await writesSince(cluster, since);
  const faults = [...unplanned(writes, plan), ...unequalRepeats(writes, plan)];
  await context.checkNow(
    `the ${writes.length} writes of this rotation also occur in an undisturbed rotation, and repeated writes have the same content`,
    () => none(faults),
  );
  return took;
}

function unplanned(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  const known = new Set(plan.map(describeWrite));
  return writes.flatMap((write) => (known.has(describeWrite(write)) ? [] : `not planned: ${describeWrite(write)}`));
}

/** Describes repeated writes whose content differs, for example because of a second authority. */
function unequalRepeats(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  const allowed = (which: string) => plan.filter((write) => describeWrite(write) === which).length;
  const bodiesOf = new Map<string, Set<string>>();
  for (const write of writes) {
    const which = describeWrite(write);
    bodiesOf.set(which, (bodiesOf.get(which) ?? new Set()).add(write.body));
  }
  return [...bodiesOf]
    .filter(([which, bodies]) => bodies.size > allowed(which))
    .map(([which, bodies]) => `written with ${bodies.size} contents instead of ${allowed(which)}: ${which}`);
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
  let phase = 'Stable';
  return (await countedWrites(cluster.replicas, since)).map((write) => {
    const { resource, name, body } = write;
    if (resource === 'secrets' && name === cluster.names.authoritySecret) phase = phaseIn(body);
    return { ...identityOf(write), phase, body: essence(body) };
  });
}

/** Formats a write without its body. Two writes of one rotation may have the same text. */
function describeWrite({ verb, resource, name, phase }: RotationWrite): string {
  return `${phase}: ${verb} ${resource} ${name}`;
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
