import { shortLeases } from '../harness/operator-process.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { killAfterWrite } from './leader-killed-in-rotation/kills.ts';
import { describeWrite, rotateUndisturbed } from './leader-killed-in-rotation/writes.ts';

const certificate = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '60s' };
const flags = [
  '--test-certificate-time-scale=60',
  '--requests-per-connection=2',
  '--drain-seconds=0',
  shortLeases,
  // What becomes of pods stands in the same status and changes with the load: here the writes of a rotation alone are compared.
  '--no-follow-pods',
];

/** The leader is killed after each single write of a rotation, while pods are created; somebody else, or the same process again, ends what it began. */
export const leaderKilledInRotation: Scenario = {
  name: 'leader-killed-in-rotation',
  about:
    'the leader is killed after each write that replaces an authority: the rotation always ends, writes nothing that an undisturbed one does not, and nothing is lost',
  full: 'a SIGKILL after each write, once restarted in its pod and once with another leader, about 8 minutes',
  run: (context) => {
    const options = { name: 'killed', certificate, flags, proxied: true, perSecond: 20 };
    return RotatingCluster.run(context, options, async (cluster) => {
      const { losses, observer } = cluster;
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
      await observer.waitForRound();
      for (const { description } of observer.violationsSince(since).slice(0, 5)) context.say(description);
      await context.checkNow(
        'no replica was ever seen with a certificate that the bundle does not verify',
        () => observer.violationsSince(since).length === 0,
      );
      context.measured({ writes: plan.map(describeWrite), kills, created, lost: 0, slowestMilliseconds: slowest });
      return `${plan.length} writes in a rotation, ${kills} leaders killed after one of them: every rotation ended, the slowest after ${slowest} ms; ${created} pods: 0 lost`;
    });
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
