import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEvent, AuditLog } from '../../harness/audit-log.ts';
import { found } from '../../harness/wait-for.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** Milliseconds between two writes of the other side. */
const betweenMs = 50;
/** Fewer writes have no pauses between them that could be too short. */
const fewest = 3;
/** When the other side gives up waiting for them, in milliseconds. */
const patience = 60_000;
/** The operator leaves a contested object alone for a second after each write; a timer may be early by a fraction of a millisecond, and clocks round. */
const shortestPause = 990;

export interface Contest {
  readonly says: string;
  readonly seconds: number;
  /** Undefined on a cluster whose log we cannot read: nothing is checked then. */
  readonly audit: AuditLog | undefined;
  readonly username: string;
  readonly configuration: string;
  readonly write: () => Promise<unknown>;
}

/**
 * Writes to a webhook configuration again and again until its time is over and the operator has taken it back some times, and checks that the operator has
 * paused for a second between any two writes. The pauses are read from the audit log, from the answer to the next request: however slow a machine is, they
 * are no shorter for it. Returns how many writes there were.
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
    `${says} for ${seconds} s: at most one write a second against it (${writes.length})`,
    () => writes.length >= fewest && found(tooShort.join(), ''),
  );
  return writes.length;
}

/** An attempt that the API server refuses, because another manager holds the field, changes nothing. */
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
