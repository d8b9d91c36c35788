import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { OperatorMetrics, ReplicaReports } from '../ports.ts';
import { type OperatorSettings, resyncMs } from '../settings.ts';
import type { TagTargets } from '../tags/tag-targets.ts';
import type { ObjectWrite, OwnedObjects } from './owned-objects.ts';
import type { RevisionEvents } from './revision-events.ts';

export interface PassContext {
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly owned: OwnedObjects;
  /** The InjectorConfigs to which tags point. */
  readonly targets: TagTargets;
  readonly reports: ReplicaReports;
  readonly events: RevisionEvents;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The input of one pass over an InjectorConfig. */
export interface RevisionPass {
  readonly config: InjectorConfig;
  /** The unparsed InjectorConfig. */
  readonly object: KubernetesObject;
  readonly signal: AbortSignal;
}

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

/**
 * What passes remember of each object: one record per key (see `tagKey`), which is dropped as a
 * whole. Each part of a pass declares the optional fields that it keeps in the record. A restart
 * loses all records.
 */
export class PassMemory<Fields extends object> {
  readonly #records = new Map<string, Fields>();

  /** Returns the record of a key, to read it; empty if there is none. */
  read(key: string): Readonly<Fields> {
    return this.#records.get(key) ?? ({} as Fields);
  }

  /** Returns the record of a key, to change it. */
  of(key: string): Fields {
    const record = this.read(key);
    this.#records.set(key, record);
    return record;
  }

  forget(key: string): void {
    this.#records.delete(key);
  }
}
