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
  // What becomes of pods stands in the same status and changes with the load: here the writes of a rotation alone are compared.
  '--no-follow-pods',
];

export const leaderKilledInRotation: Scenario = {
  name: 'leader-killed-in-rotation',
  about:
    'the leader is killed after each write that replaces an authority: the rotation always ends, writes nothing that an undisturbed one does not, and nothing is lost',
  full: 'a SIGKILL after each write, once restarted in its pod and once with another leader, about 8 minutes',
  run: async (context) => {
    const options = { name: 'killed', certificate, flags, proxied: true, perSecond: 20 };
    const cluster = await startRotatingCluster(context, options);
    const { losses } = cluster;
    const plan = await rotateUndisturbed(cluster);
    for (const write of plan) context.say(describeWrite(write));
    const isFull = context.size === 'full';
    const chosen = plan.map((_, index) => index + 1).filter((position) => isFull || isTold(plan, position));
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
    const created = await losses.checkNone(`${kills} leaders killed in ${kills} rotations`, since);
    await cluster.checkNoViolations(
      'no replica was ever seen with a certificate that the bundle does not verify',
      since,
    );
    context.measured({ writes: plan.map(describeWrite), kills, created, lost: 0, slowestMilliseconds: slowest });
    return `${plan.length} writes in a rotation, ${kills} leaders killed after one of them: every rotation ended, the slowest after ${slowest} ms; ${created} pods: 0 lost`;
  },
};

/** The short size kills after the two writes between which a crash could hurt most: the new bundle, and the record that the new authority signs. */
function isTold(plan: readonly { resource: string; name: string; phase: string }[], position: number): boolean {
  const write = plan[position - 1];
  if (write === undefined) return false;
  const isSame = (other: typeof write) => other.resource === write.resource && other.phase === write.phase;
  const isFirst = plan.findIndex(isSame) === position - 1;
  const isBundle = write.resource === 'mutatingwebhookconfigurations' && write.phase === 'Publishing';
  return isFirst && (isBundle || (write.resource === 'secrets' && write.phase === 'Retiring'));
}

/** Milliseconds for a rotation to come to a write; and to its end, with another leader once the Lease has expired. */
const patience = 60_000;

/**
 * Has the authority replaced, kills the leader when the API server has done the write at `position` and before it knows, and checks how it went on; returns
 * the milliseconds from the kill to the end of the rotation.
 *
 * @param isRestarted whether the killed one comes back at once in its pod, as a container does, or only once another leads
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
  if (target === undefined) throw new Error('there is no such write');
  const leader = await replicas.waitForLeader();
  const issuer = observer.common()?.issuer;
  const resources = [...new Set(plan.map(({ resource }) => resource.split('/')[0] ?? ''))];
  const verbs = [...new Set(plan.map(({ verb }) => verb))];
  const since = Date.now();
  const held = await proxy.holdWrite({ client: leader.name, resources, verbs }, position);
  const nonce = await cluster.request('authority-force');
  const reached = await Promise.race([held.reached, sleep(patience, undefined, { ref: false })]);
  if (reached === undefined) throw new Error(`the rotation never came to its write ${position}`);
  const killed = await replicas.kill(leader);
  await held.release();
  if (isRestarted) await leader.operator.restart();
  await waitForEnd(cluster, nonce, patience);
  const took = Date.now() - killed;
  if (!isRestarted) {
    // After the last writes nothing is left to wait for: the next one to lead must still find nothing to do.
    await waitFor('another controller to lead', () => replicas.leaderOtherThan(leader), { timeout: patience });
    await leader.operator.restart();
  }
  await observer.waitForRound();
  const how = isRestarted ? 'restarted' : 'another leads';
  await context.check(
    `killed after write ${position}, ${describeWrite(target)}; ${how}: the rotation ended after ${took} ms`,
    () => {
      const common = observer.common();
      return common?.issuer !== undefined && common.issuer !== issuer && observer.authorities.length === 1;
    },
  );
  const writes = await writesSince(cluster, since);
  const faults = [...unplanned(writes, plan), ...unequalRepeats(writes, plan)];
  await context.checkNow(
    `its ${writes.length} writes are those of an undisturbed one, and what was written again said the same`,
    () => none(faults),
  );
  return took;
}

function unplanned(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  const known = new Set(plan.map(describeWrite));
  return writes.flatMap((write) => (known.has(describeWrite(write)) ? [] : `not planned: ${describeWrite(write)}`));
}

/** Writes beyond those of the plan that did not merely repeat what was said: a second authority, a second certificate. */
function unequalRepeats(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  const allowed = (which: string) => plan.filter((write) => describeWrite(write) === which).length;
  const said = new Map<string, Set<string>>();
  for (const write of writes) {
    const which = describeWrite(write);
    said.set(which, (said.get(which) ?? new Set()).add(write.body));
  }
  return [...said]
    .filter(([which, bodies]) => bodies.size > allowed(which))
    .map(([which, bodies]) => `written with ${bodies.size} contents instead of ${allowed(which)}: ${which}`);
}

interface RotationWrite {
  verb: string;
  resource: string;
  name: string;
  /** What the rotation's record said when it was written: `Stable`, `Publishing`, `Confirming`, `Retiring`. */
  phase: string;
  /** What it said, without what the API server or the time of day decides. */
  body: string;
}

/** Replaces the authority once and returns the writes of the controllers, in their order: taken from the audit log, phases from the bodies. */
async function rotateUndisturbed(cluster: RotatingCluster): Promise<RotationWrite[]> {
  const { context, audit, namespace, replicas } = cluster;
  // What is written once after the start is not part of a rotation.
  const before = Date.now();
  await waitForEnd(cluster, await cluster.request('authority-force'));
  // Nor is what comes after the end of the one before.
  await writesSince(cluster, before);
  const since = Date.now();
  await waitForEnd(cluster, await cluster.request('authority-force'));
  const writes = await writesSince(cluster, since);
  const written = writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  const isProbe = ({ objectRef }: AuditEvent): boolean => (objectRef?.namespace ?? namespace) !== namespace;
  const byOperator = audit.writesBy(replicas.installation.username).filter((event) => !isProbe(event));
  const audited = describeAudited(byOperator, since);
  await context.checkNow(
    `an undisturbed rotation: ${writes.length} writes, the same in the audit log`,
    () => writes.length > 0 && written.join('\n') === audited.join('\n'),
  );
  return writes;
}

/** Waits until a request is done and nothing retires any more: a rotation by force ends there, and its last status says so. */
async function waitForEnd(cluster: RotatingCluster, nonce: string, timeout = 60_000): Promise<void> {
  await cluster.waitForDone(nonce, timeout);
  await waitFor('the rotation to have ended', async () => (await cluster.status()).phase === 'Stable', { timeout });
}

/** What the controllers have written since a time, once they have been quiet for a moment. */
async function writesSince(cluster: RotatingCluster, since: number): Promise<RotationWrite[]> {
  let phase = 'Stable';
  return (await countedWrites(cluster.replicas, since)).map((write) => {
    const { resource, name, body } = write;
    if (resource === 'secrets' && name === cluster.names.authoritySecret) phase = phaseIn(body);
    return { ...identityOf(write), phase, body: essence(body) };
  });
}

/** The kind of write: two of one rotation differ by their bodies alone. */
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
