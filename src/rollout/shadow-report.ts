import { isSameConfiguration, type RolloutRoute } from '../routing/route.ts';

/** Field paths that a report names. */
export const mostChangedFields = 20;
/** Characters of a field path, and of an error. */
export const longestField = 160;
export const longestError = 500;

/** The two configurations that are compared, and for whose sake. */
export type RolloutPair = Pick<RolloutRoute, 'tag' | 'stable' | 'canary'>;

/** What came of rendering pods by both configurations of a rollout, summed over whoever did it. */
export interface ShadowReport {
  /** Admissions that were looked at. */
  readonly compared: number;
  /** Those that only the canary refuses. */
  readonly failed: number;
  /** Those that both accept, with different pods. */
  readonly differing: number;
  /** The first fields that differ, e.g. `spec.containers[istio-proxy].image`. */
  readonly changed: readonly string[];
  /** Why the first of `failed` was refused. */
  readonly error?: string;
}

/** The report of somebody who has compared nothing. */
export const emptyShadowReport: ShadowReport = { compared: 0, failed: 0, differing: 0, changed: [] };

/** One replica's report on one pair. */
export type PairReport = RolloutPair & ShadowReport;

/** The sum of two reports: the fields of the first come first. */
export function addShadowReports(one: ShadowReport, other: ShadowReport): ShadowReport {
  const error = one.error ?? other.error;
  return {
    compared: one.compared + other.compared,
    failed: one.failed + other.failed,
    differing: one.differing + other.differing,
    changed: [...new Set([...one.changed, ...other.changed])].slice(0, mostChangedFields),
    ...(error === undefined ? {} : { error }),
  };
}

/** Whether a report is about this pair. */
export function isOfPair({ tag, stable, canary }: RolloutPair, pair: RolloutPair): boolean {
  return tag === pair.tag && isSameConfiguration(stable, pair.stable) && isSameConfiguration(canary, pair.canary);
}

/** A field path as it may stand in a report. */
export function boundedField(field: string): string {
  return shortened(field, longestField);
}

/** An error as it may stand in a report. */
export function boundedError(error: string): string {
  return shortened(error, longestError);
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
