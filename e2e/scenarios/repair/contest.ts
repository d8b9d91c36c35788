import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEvent, AuditLog } from '../../harness/audit-log.ts';
import { found } from '../../harness/wait-for.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** The milliseconds between two writes of the other side. */
const betweenMs = 50;
/** The minimum number of the operator's writes, so that there are pauses to check. */
const fewest = 3;
/** The milliseconds after which the other side stops waiting for them. */
const patience = 60_000;
/** The operator pauses for a second after a write; timers and clock rounding may cost some ms. */
const shortestPause = 990;

export interface Contest {
  readonly says: string;
  readonly seconds: number;
  /** Undefined on a cluster whose log is unreadable; then nothing is checked. */
  readonly audit: AuditLog | undefined;
  readonly username: string;
  readonly configuration: string;
  readonly write: () => Promise<unknown>;
}

/**
 * Overwrites a webhook configuration for some time, until the operator has restored it a few times,
 * and checks that the operator pauses for a second between writes. The pauses, from a response to
 * the next request, come from the audit log; a slow machine only extends them. Returns the number
 * of writes.
 */
export async function checkContest(context: ScenarioContext, contest: Contest): Promise<number> {
  const { says, seconds, audit, write } = contest;
  const began = Date.now();
  const isOver = () => audit === undefined || takenBack(contest).length >= fewest || Date.now() - began > patience;
  while (Date.now() - began < seconds * 1000 || !isOver()) {
    await write();
    await sleep(betweenMs);
  }
  if (audit === undefined) return 0;
  const writes = takenBack(contest);
  const tooShort = pauses(writes).filter((each) => each < shortestPause);
  await context.checkNow(
    `against ${says} for ${seconds} s, the operator writes at most once a second (${writes.length} times)`,
    () => writes.length >= fewest && found(tooShort.join(), ''),
  );
  return writes.length;
}

/** Returns the operator's successful writes, without attempts refused because of a conflict. */
function takenBack({ audit, username, configuration }: Contest): AuditEvent[] {
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
