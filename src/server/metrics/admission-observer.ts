import { type AdmissionDecision, type AdmissionRequest, displayName } from '../admission/admission-decision.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import type { FailedInjections } from './failed-injections.ts';
import type { ServerMetrics } from './server-metrics.ts';

export type AdmissionObserver = ReturnType<typeof createAdmissionObserver>;

/** Limited, because malformed requests from any client in the cluster could fill the disk. */
const warningsPerSecond = 20;

/** Counts and logs every admission: allowed reviews at debug, refused and malformed at warn. */
export function createAdmissionObserver(
  log: LogPort,
  metrics: ServerMetrics,
  clock: MonotonicClock,
  failed?: Pick<FailedInjections, 'note'>,
) {
  const allowance = throttle(clock, warningsPerSecond);
  const warn = (message: string, fields: Record<string, unknown>): void => {
    const suppressed = allowance();
    if (suppressed === undefined) return;
    const bounded = boundFields(fields);
    log.warn(message, suppressed === 0 ? bounded : { ...bounded, suppressed });
  };
  return {
    started: clock,
    /** Records a decision. @param reused whether the decision came from the cache */
    decided(
      kind: string,
      request: AdmissionRequest,
      decision: AdmissionDecision,
      started: number,
      reused = false,
    ): void {
      const milliseconds = clock() - started;
      metrics.decided(kind, decision, milliseconds / 1000);
      if (reused) metrics.reused();
      const isRefused = !decision.allowed;
      if (isRefused) failed?.note(request, decision);
      if (!isRefused && log.isLevelEnabled?.('debug') === false) return;
      const fields: Record<string, unknown> = {
        uid: request.uid,
        path: kind,
        operation: request.operation,
        namespace: request.namespace,
        name: displayName(request),
        outcome: decision.outcome,
        reason: decision.reason,
        milliseconds,
      };
      if (reused) fields.reused = true;
      if (request.dryRun) fields.dryRun = true;
      if (decision.injector !== undefined) fields.config = `${decision.injector.name}.${decision.injector.hash}`;
      if (!isRefused) log.debug('admission', boundFields(fields));
      else warn('admission refused', { ...fields, problem: decision.status?.message });
    },
    /** Logs a body that is not a review, or a review with fields of the wrong type. */
    malformed(kind: string, problem: string, uid?: string): void {
      warn('malformed admission review', { path: kind, problem, ...(uid === undefined ? {} : { uid }) });
    },
    defect(thrown: unknown): void {
      const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      log.error('admission failed unexpectedly', { error });
    },
  };
}

/** The maximum length of a string in characters; enough for a refusal that quotes a request. */
const longest = 1000;

/** Truncates long strings, because names, uids and messages contain text from clients. */
function boundFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const bounded: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    bounded[name] =
      typeof value === 'string' && value.length > longest
        ? `${value.slice(0, longest)}… (${value.length} characters)`
        : value;
  }
  return bounded;
}

/**
 * Limits events to `perSecond`. The returned function handles one event: it returns undefined to
 * suppress the event, else the number of events suppressed since the last allowed event.
 */
export function throttle(clock: MonotonicClock, perSecond: number): () => number | undefined {
  let second = -1;
  let allowed = 0;
  let suppressed = 0;
  return () => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      allowed = 0;
    }
    if (allowed === perSecond) {
      suppressed++;
      return undefined;
    }
    allowed++;
    const before = suppressed;
    suppressed = 0;
    return before;
  };
}
