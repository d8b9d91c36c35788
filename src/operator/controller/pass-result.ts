import type { Logger } from '../../kube/ports.ts';
import { resyncMs } from '../settings.ts';
import type { ObjectWrite } from './owned-objects.ts';

/** What a step of a pass found and wrote, and when the pass must be repeated. */
export interface PassResult<Findings> {
  readonly findings?: Findings;
  readonly writes?: readonly ObjectWrite[];
  /** The milliseconds until the next pass; undefined if the resync is early enough. */
  readonly retryAfter?: number | undefined;
}

/**
 * Combines the results of all steps of a pass: every finding and write, and the earliest retry. A
 * finding of a later step replaces that of an earlier step.
 */
export function combineResults<Findings>(...results: readonly PassResult<Findings>[]) {
  const writes = results.flatMap((result) => result.writes ?? []);
  const waits = [...results, ...writes].map(({ retryAfter = resyncMs }) => retryAfter);
  const findings = Object.assign({}, ...results.map((result) => result.findings)) as Findings;
  return { findings, writes, retryAfter: Math.min(resyncMs, ...waits) };
}

/** Logs the repairs of objects that belong to no InjectorConfig or tag, so that have no Events. */
export function logRepairs(writes: readonly ObjectWrite[], logger: Logger): void {
  for (const { isRepair, object, difference } of writes) {
    if (isRepair) logger.warn('repaired', { object: `${object.kind} ${object.metadata.name ?? ''}`, difference });
  }
}
