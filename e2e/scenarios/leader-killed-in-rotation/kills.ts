import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { describeWrite, keyOf, waitForEnd, writesSince, type RotationWrite } from './writes.ts';

/** Milliseconds for a rotation to come to a write; and to its end, with another leader once the Lease has expired. */
const patience = 60_000;

/**
 * Has the authority replaced, kills the leader when the API server has done the write at `position` and before it knows, and checks how it went on; returns
 * the milliseconds from the kill to the end of the rotation.
 *
 * @param isRestarted whether the killed one comes back at once in its pod, as a container does, or only once another leads
 */
export async function killAfterWrite(
  cluster: RotatingCluster,
  plan: readonly RotationWrite[],
  position: number,
  isRestarted: boolean,
): Promise<number> {
  const { context, replicas, observer } = cluster;
  const { proxy } = replicas;
  const target = plan[position - 1];
  if (proxy === undefined || target === undefined) throw new Error('there is no such write');
  const leader = await replicas.waitForLeader();
  const issuer = observer.common()?.issuer;
  const resources = [...new Set(plan.map(({ resource }) => resource.split('/')[0] ?? ''))];
  const verbs = [...new Set(plan.map(({ verb }) => verb))];
  const since = Date.now();
  const held = await proxy.holdWrite({ client: leader.name, resources, verbs }, position);
  const nonce = await cluster.request('authority-force');
  const reached = await Promise.race([held.reached, timeout()]);
  if (reached === undefined) throw new Error(`the rotation never came to its write ${position}`);
  const killed = await replicas.kill(leader);
  await held.release();
  if (isRestarted) await leader.operator.restart();
  await waitForEnd(cluster, nonce, patience);
  const took = Date.now() - killed;
  if (!isRestarted) {
    // After the last writes nothing is left to wait for: the next one to lead must still find nothing to do.
    const isOther = async () => ![undefined, leader].includes(await replicas.leader());
    await waitFor('another controller to lead', isOther, { timeout: patience });
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
  for (const fault of faults.slice(0, 5)) context.say(fault);
  await context.checkNow(
    `its ${writes.length} writes are those of an undisturbed one, and what was written again said the same`,
    () => faults.length === 0,
  );
  return took;
}

function unplanned(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  const known = new Set(plan.map(keyOf));
  return writes.filter((write) => !known.has(keyOf(write))).map((write) => `not planned: ${describeWrite(write)}`);
}

/** Writes beyond those of the plan that did not merely repeat what was said: a second authority, a second certificate. */
function unequalRepeats(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  const allowed = count(plan);
  const said = new Map<string, Set<string>>();
  for (const write of writes) {
    const bodies = said.get(keyOf(write)) ?? new Set();
    said.set(keyOf(write), bodies.add(write.body));
  }
  return [...said]
    .filter(([key, bodies]) => bodies.size > (allowed.get(key) ?? 0))
    .map(([key, bodies]) => `written with ${bodies.size} contents instead of ${allowed.get(key) ?? 0}: ${key}`);
}

function count(writes: readonly RotationWrite[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const write of writes) counts.set(keyOf(write), (counts.get(keyOf(write)) ?? 0) + 1);
  return counts;
}

function timeout(): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => {
      resolve(undefined);
    }, patience).unref();
  });
}
