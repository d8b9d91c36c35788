import { setTimeout as sleep } from 'node:timers/promises';
import { podCreations } from '../admissions.ts';
import type { AuditEvent, AuditLog } from '../audit-log.ts';
import { refusedCreations, type LostAdmission } from '../lost-admissions.ts';
import { quantile } from '../quantile.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import { none, waitFor } from '../wait-for.ts';
import type { PodLoad } from './pod-load.ts';

/** Creations without which a stretch says nothing. */
const enough = 20;

/** What a load has lost, stretch by stretch. */
export class Losses {
  readonly #context: ScenarioContext;
  readonly #load: PodLoad;
  readonly #audit: AuditLog;

  constructor(context: ScenarioContext, load: PodLoad, audit: AuditLog) {
    this.#context = context;
    this.#load = load;
    this.#audit = audit;
  }

  /** What was answered since a time (milliseconds since 1970), or in another stretch. */
  report(since: number | Stretch = {}) {
    const stretch = typeof since === 'number' ? { answeredSince: since } : since;
    return reportLoad(this.#load, this.#audit.events(), stretch);
  }

  /**
   * Checks that nothing was lost that was answered since a time (milliseconds since 1970), or asked for since, after some pods were created since; returns how
   * many. By when it was asked for is right where a fault has ended: what met it may be answered late.
   */
  async checkNone(statement: string, since: number | Stretch): Promise<number> {
    await waitFor('pods to be created', () => this.report(since).created >= enough);
    const report = this.report(since);
    const lost = report.lost.map(({ description }) => description);
    await this.#context.checkNow(`${statement}: 0 of ${report.created} lost`, () => none(lost));
    return report.created;
  }
}

/** The negative control: with every webhook replica dead creations are refused, and it is seen; with them back they are not. */
export async function checkDeadReplicas(context: ScenarioContext, replicas: Replicas, losses: Losses): Promise<void> {
  await sleep(1000);
  const since = Date.now();
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  await context.check('every webhook replica is killed: creations are refused, and it is seen', () => {
    const { lost } = losses.report(since);
    return lost.some(({ kind }) => kind === 'refused') && !lost.some(({ kind }) => kind !== 'refused');
  });
  context.say(`lost with every replica down: ${losses.report(since).lost.length}`);
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
  await losses.checkNone('they are back', { askedSince: Date.now() });
}

/** Which creations are counted, by times in milliseconds since 1970: all of them unless told. */
interface Stretch {
  readonly answeredSince?: number;
  /** Those that were asked for since: however late the answer is, it does not depend on what was before. */
  readonly askedSince?: number;
  readonly askedBefore?: number;
}

/**
 * Counts what was lost, from the audit log (creations by controllers count) and from the stored pods.
 *
 * @param events what the API server has recorded since before the load began
 */
export function reportLoad(load: PodLoad, events: AuditEvent[], stretch: Stretch = {}) {
  const { answeredSince = 0, askedSince = 0, askedBefore = Infinity } = stretch;
  const isMeant = (asked: number, answered: number) =>
    answered >= answeredSince && asked >= askedSince && asked < askedBefore;
  const creations = podCreations(events, load.namespace).filter(({ requestReceivedTimestamp, stageTimestamp }) =>
    isMeant(Date.parse(requestReceivedTimestamp), Date.parse(stageTimestamp)),
  );
  const defects = [
    ...load.creations
      .filter(({ startedAt, endedAt }) => isMeant(startedAt, endedAt))
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
    /** Creations that the API server has answered, by us and by the ReplicaSet's controller, dry runs not. */
    created: stands.length,
    byReplicaSet: stands.filter(({ user }) => user.username.startsWith('system:')).length,
    lost: [...refusedCreations(creations), ...stored],
    /** Of a creation as this client saw it, the whole of it. */
    p50Milliseconds: quantile(times, 0.5),
    p99Milliseconds: quantile(times, 0.99),
  };
}
