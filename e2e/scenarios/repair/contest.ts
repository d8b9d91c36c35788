import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEvent, AuditLog } from '../../harness/audit-log.ts';
import { found } from '../../harness/wait-for.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** The milliseconds between two writes of the hostile client. */
const betweenMs = 50;
/** The minimum number of writes by the operator, so that there are pauses to check. */
const fewest = 3;
/** The milliseconds after which the hostile client stops waiting for the operator's writes. */
const patience = 60_000;
/** The minimum pause in ms: a second, less some ms for timers and rounding of times. */
const shortestPause = 990;

export interface Contest {
  readonly says: string;
  readonly seconds: number;
  /** The audit log; undefined if the cluster hides it, so that the pauses cannot be checked. */
  readonly audit: AuditLog | undefined;
  readonly username: string;
  readonly configuration: string;
  readonly write: () => Promise<unknown>;
}

/**
 * Overwrites a webhook configuration for `seconds` or longer, until the operator has restored it a
 * few times. Checks that the operator pauses for a second between writes. A pause lasts from a
 * response to the next request in the audit log; a slow machine only extends pauses. Returns the
 * number of writes.
 */
export async function checkContest(context: ScenarioContext, contest: Contest): Promise<number> {
  const { says, seconds, audit, write } = contest;
  const began = Date.now();
  const isOver = () => audit === undefined || restorations(contest).length >= fewest || Date.now() - began > patience;
  while (Date.now() - began < seconds * 1000 || !isOver()) {
    await write();
    await sleep(betweenMs);
  }
  if (audit === undefined) return 0;
  const writes = restorations(contest);
  const tooShort = pauses(writes).filter((each) => each < shortestPause);
  await context.checkNow(
    `against ${says}, the operator writes at most once per second (${writes.length} times in ${seconds} s)`,
    () => writes.length >= fewest && found(tooShort.join(), ''),
  );
  return writes.length;
}

/** Returns the operator's successful writes, without writes that got a conflict. */
function restorations({ audit, username, configuration }: Contest): AuditEvent[] {
  return (audit?.writesBy(username, false) ?? []).filter(
    ({ objectRef, responseStatus }) =>
      objectRef?.resource === 'mutatingwebhookconfigurations' &&
      objectRef.name === configuration &&
      (responseStatus?.code ?? 0) < 300,
  );
}

function pauses(writes: readonly AuditEvent[]): number[] {
  return writes.slice(1).map(({ requestReceivedTimestamp }, index) => {
    return Date.parse(requestReceivedTimestamp) - Date.parse(writes[index]?.stageTimestamp ?? '');
  });
}
