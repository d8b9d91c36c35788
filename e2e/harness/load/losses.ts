import { setTimeout as sleep } from 'node:timers/promises';
import { podCreations } from '../admissions.ts';
import type { AuditEvent, AuditLog } from '../audit-log.ts';
import { refusedCreations, type LostAdmission } from '../lost-admissions.ts';
import { quantile } from '../quantile.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import { none, waitFor } from '../wait-for.ts';
import type { PodLoad } from './pod-load.ts';

/** The minimum number of created pods for a meaningful result. */
const enough = 20;

export type Losses = ReturnType<typeof lossesOf>;

/** Reports which creations of a load were lost in an interval. */
export function lossesOf(context: ScenarioContext, load: PodLoad, audit: AuditLog) {
  /** Reports on creations answered since a time (ms since 1970), or in a {@link Stretch}. */
  const report = (since: number | Stretch = {}) =>
    reportLoad(load, audit.events(), typeof since === 'number' ? { answeredSince: since } : since);
  /**
   * Waits until enough creations were answered since a time (milliseconds since 1970), or in a
   * {@link Stretch}. Checks that none was lost; returns their number. After a fault, use
   * `askedSince`, because creations that the fault affected may be answered late.
   */
  const checkNone = async (statement: string, since: number | Stretch): Promise<number> => {
    await waitFor('pods to be created', () => report(since).created >= enough);
    const { created, lost } = report(since);
    await context.checkNow(`${statement}: none of ${created} created pods was lost`, () =>
      none(lost.map(({ description }) => description)),
    );
    return created;
  };
  return { report, checkNone };
}

/** Checks the negative control: while all webhook replicas are dead, the test sees losses. */
export async function checkDeadReplicas(context: ScenarioContext, replicas: Replicas, losses: Losses): Promise<void> {
  await sleep(1000);
  const since = Date.now();
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  await context.check('negative control: with every replica dead, the test detects only refused pods', () => {
    const { lost } = losses.report(since);
    return lost.some(({ kind }) => kind === 'refused') && !lost.some(({ kind }) => kind !== 'refused');
  });
  context.say(`pods lost while every replica was dead: ${losses.report(since).lost.length}`);
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
  await losses.checkNone('after the webhook replicas were restarted', { askedSince: Date.now() });
}

/** Times, in milliseconds since 1970, that limit which creations count. Default: all count. */
interface Stretch {
  readonly answeredSince?: number;
  /** Counts creations requested since this time, which earlier faults cannot affect. */
  readonly askedSince?: number;
  readonly askedBefore?: number;
}

/**
 * Counts lost creations in the audit log (including those by controllers) and the stored pods.
 *
 * @param events the API server's audit events since before the load began
 */
export function reportLoad(load: PodLoad, events: AuditEvent[], stretch: Stretch = {}) {
  const { answeredSince = 0, askedSince = 0, askedBefore = Infinity } = stretch;
  const isInStretch = (asked: number, answered: number) =>
    answered >= answeredSince && asked >= askedSince && asked < askedBefore;
  const creations = podCreations(events, load.namespace).filter(({ requestReceivedTimestamp, stageTimestamp }) =>
    isInStretch(Date.parse(requestReceivedTimestamp), Date.parse(stageTimestamp)),
  );
  const defects = [
    ...load.creations
      .filter(({ startedAt, endedAt }) => isInStretch(startedAt, endedAt))
      .map(({ name, defect }) => [name, defect] as const),
    ...(Object.keys(stretch).length === 0 ? load.replicaSetPods : []),
  ];
  const stored = defects.flatMap(([name, defect]): LostAdmission[] =>
    defect === undefined ? [] : [{ kind: defect.kind, description: `pod ${load.namespace}/${name}: ${defect.what}` }],
  );
  const times = load.creations
    .filter(({ failure }) => failure === undefined)
    .map(({ startedAt, endedAt }) => endedAt - startedAt);
  const stands = creations.filter(({ responseStatus }) => responseStatus?.code === 201);
  return {
    /** The number of pods that the load and the ReplicaSet created, without dry runs. */
    created: stands.length,
    byReplicaSet: stands.filter(({ user }) => user.username.startsWith('system:')).length,
    lost: [...refusedCreations(creations), ...stored],
    /** The durations of creations as the load measured them. */
    p50Milliseconds: quantile(times, 0.5),
    p99Milliseconds: quantile(times, 0.99),
  };
}
