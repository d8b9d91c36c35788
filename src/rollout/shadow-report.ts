import { isSameConfiguration, type RolloutRoute } from '../routing/route.ts';

/** The maximum number of field paths in a report. */
export const mostChangedFields = 20;
/** The maximum lengths of a field path and of an error, in characters. */
export const longestField = 160;
export const longestError = 500;

/** The tag and the two configurations that are compared. */
export type RolloutPair = Pick<RolloutRoute, 'tag' | 'stable' | 'canary'>;

/** The results of rendering pods with both configurations of a rollout. */
export interface ShadowReport {
  /** The number of compared admissions. */
  readonly compared: number;
  /** The number of admissions that only the canary refuses. */
  readonly failed: number;
  /** The number of admissions for which the two configurations render different pods. */
  readonly differing: number;
  /** The first fields that differ, such as `spec.containers[istio-proxy].image`. */
  readonly changed: readonly string[];
  /** The error of the first admission that only the canary refuses. */
  readonly error?: string;
}

/** A report without comparisons. */
export const emptyShadowReport: ShadowReport = { compared: 0, failed: 0, differing: 0, changed: [] };

/** The report of one replica about one pair. */
export type PairReport = RolloutPair & ShadowReport;

/** Adds two reports. The fields of the first report come first. */
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

/** Reports whether a report is about this pair. */
export function isOfPair({ tag, stable, canary }: RolloutPair, pair: RolloutPair): boolean {
  return tag === pair.tag && isSameConfiguration(stable, pair.stable) && isSameConfiguration(canary, pair.canary);
}

/** Cuts a field path to `longestField` characters. */
export function boundedField(field: string): string {
  return shortened(field, longestField);
}

/** Cuts an error to `longestError` characters. */
export function boundedError(error: string): string {
  return shortened(error, longestError);
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
