import type { Scenario } from '../harness/scenario-context.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import {
  observeRotations,
  rotatingFlags,
  shortTerms,
  startRotatingReplicas,
  type RotatingCluster,
} from '../harness/tls-observer/rotating-cluster.ts';
import { crossExpiry } from './certificate-cases/expiry.ts';
import { checkGivenCertificates } from './certificate-cases/given.ts';
import { checkRepairs } from './certificate-cases/repairs.ts';
import { checkEnd, checkRequests, startSigner } from './certificate-cases/requested.ts';
import { checkTagMoves, taggedOptions } from './certificate-cases/tag-moves.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

/** Leaves live for 120 s, longer than the controllers are stopped on a busy machine. */
const longerTerms = { ...shortTerms, leafDuration: '2h' };

/** Leaves live for 40 s, authorities for 64 s; both are renewed at 45 to 50 %. */
const shortLives = { leafDuration: '40m', caDuration: '64m', confirmationPeriod: '60s', renewalFraction: 0.5 };

export const certificateCases: Scenario = {
  name: 'certificate-cases',
  about:
    'in one installation, five InjectorConfigs with a load and an observer each lose no pod: damaged Secrets and caBundles are repaired, a user provides certificates in a Secret, a signer issues certificates, a tag moves during rotations, and certificates that live for seconds are renewed',
  run: async (context) => {
    const { signer, options } = await startSigner(context);
    const shared = await startRotatingReplicas(context, {
      webhooks: 2,
      controllers: 1,
      // Counting the pods of all loads would take much time of the leader.
      flags: [...rotatingFlags, '--no-follow-pods'],
      values: { operator: { certificateSigningRequests: true } },
    });
    const open = (each: Parameters<typeof observeRotations>[1]): Promise<RotatingCluster> =>
      observeRotations(shared, { certificate: longerTerms, perSecond: 5, replicaSetPods: 2, pause: 300, ...each });
    const [damaged, given, requested, tagged] = await sideBySide(context, [
      open({ name: 'damaged' }),
      open({ name: 'given' }),
      open(options),
      open(taggedOptions(context)),
    ]);
    const harm = () => checkLeafBeforeBundle(damaged, given, requested, tagged);
    const lostAtOnce = await takeOver(damaged, harm, given, requested, tagged);
    // The other InjectorConfigs would delay the repairs: the leader makes their keys.
    // A repair may have to generate two keys on a busy machine.
    const repairs = await checkRepairs(damaged, 1, 10_000).finally(damaged.stop);
    // These certificates would have expired while the controllers were stopped.
    const expiring = await open({ name: 'expiring', certificate: shortLives });
    const [provided, asked, moves, expired] = await sideBySide(context, [
      checkGivenCertificates(given).finally(given.stop),
      checkRequests(requested, signer),
      checkTagMoves(tagged, 3).finally(tagged.stop),
      checkExpiry(expiring).finally(expiring.stop),
    ]);
    await checkEnd(requested, signer, asked);
    const created = [damaged, given, requested, tagged, expiring].reduce(
      (sum, { losses }) => sum + losses.report().created,
      0,
    );
    const { slowest, lostMeanwhile } = repairs;
    context.measured({
      created,
      lostAtOnce,
      slowestRepairMilliseconds: slowest,
      lostMeanwhile,
      ...provided,
      ...expired,
    });
    return `${created} pods created; ${Object.keys(slowest).length} kinds of damage repaired, ${provided.refused} invalid Secrets refused, ${asked.seen} certificates requested again, ${moves.where} at moves of the tag, ${expired.expiredLeaves} certificates and ${expired.expiredAuthorities} authorities expired; ${lostAtOnce} pods lost in the negative control, in which leaves came before bundles`;
  },
};

async function checkExpiry(cluster: RotatingCluster) {
  const since = Date.now();
  const expired = await crossExpiry(cluster, 0);
  await cluster.losses.checkNone('with short-lived certificates', since);
  const statement = 'no replica served an expired certificate or one that the bundle does not verify';
  await cluster.checkNoViolations(statement, since);
  return expired;
}
