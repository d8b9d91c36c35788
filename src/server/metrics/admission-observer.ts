import { type AdmissionDecision, type AdmissionRequest, nameForPeople } from '../admission/admission-decision.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import type { FailedInjections } from './failed-injections.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** Who sees what was decided: nothing that an admission does depends on it. */
export type AdmissionObserver = ReturnType<typeof createAdmissionObserver>;

/** Anyone in the cluster can send us nonsense; the log must not be the way to fill a disk. */
const warningsPerSecond = 20;

/** Metrics for every admission; a log line at debug for what went well, at warn for refusals, failures and malformed reviews. */
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
    /** The clock's reading when a handler starts. */
    started: clock,
    /** A handler has decided; or, when `reused`, would have decided the same again. */
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
      const worrying = !decision.allowed;
      if (worrying) failed?.note(request, decision);
      if (!worrying && log.isLevelEnabled?.('debug') === false) return;
      const fields: Record<string, unknown> = {
        uid: request.uid,
        path: kind,
        operation: request.operation,
        namespace: request.namespace,
        name: nameForPeople(request),
        outcome: decision.outcome,
        reason: decision.reason,
        milliseconds,
      };
      if (reused) fields.reused = true;
      if (request.dryRun) fields.dryRun = true;
      if (decision.injector !== undefined) fields.config = `${decision.injector.name}.${decision.injector.hash}`;
      if (!worrying) log.debug('admission', boundFields(fields));
      else warn('admission refused', { ...fields, problem: decision.status?.message });
    },
    /** A body that is not a review, or a review with members of the wrong type. */
    malformed(kind: string, problem: string, uid?: string): void {
      warn('malformed admission review', { path: kind, problem, ...(uid === undefined ? {} : { uid }) });
    },
    /** An exception that nobody expected. */
    defect(thrown: unknown): void {
      const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      log.error('admission failed unexpectedly', { error });
    },
  };
}

/** Characters. Enough for what a refusal has to say; what it quotes can be as long as a request. */
const longest = 1000;

/** The fields of a log line with texts that are cut where they get long: names, uids and messages hold what a client has sent. */
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
 * Lets through so many things a second.
 * @returns a function that is asked for each of them: how many were held back since the last one that passed, or undefined when this one is held back too
 */
export function throttle(clock: MonotonicClock, perSecond: number): () => number | undefined {
  let second = -1;
  let passed = 0;
  let heldBack = 0;
  return () => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      passed = 0;
    }
    if (passed === perSecond) {
      heldBack++;
      return undefined;
    }
    passed++;
    const before = heldBack;
    heldBack = 0;
    return before;
  };
}
