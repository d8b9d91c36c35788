import { dnsLabelPattern } from '../kubernetes/field-types.ts';
import { ownName } from '../own-names.ts';

/** The pod template annotation that restarts a workload when written, and the only record of it. */
export const restartedAnnotation = ownName('restarted');

/** The annotation of a workload that excludes it from all restarts, with value `"false"`. */
export const restartChoiceAnnotation = ownName('restart');

export interface WorkloadRestart {
  readonly tag: string;
  /** The configuration for the new pods, `<InjectorConfig>.<hash8>`. */
  readonly target: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The number of restarts that the annotation keeps; a pod belongs to few families. */
const mostRestarts = 8;
/** Characters, enough for eight restarts of maximum length. */
const longestValue = 2048;

const targetPattern = /^[a-z0-9-]{1,63}\.[0-9a-f]{8}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

/** Formats restarts as `<tag> <target> <RFC 3339 time>`, separated by commas. */
export function formatRestartAnnotation(restarts: readonly WorkloadRestart[]): string {
  return restarts.map(({ tag, target, at }) => `${tag} ${target} ${new Date(at).toISOString()}`).join(', ');
}

/**
 * Parses {@link restartedAnnotation} into the latest restart of each tag, latest first. An author
 * may have written the value: if any part is malformed, the workload counts as not restarted by us.
 */
export function parseRestartAnnotation(value: unknown): readonly WorkloadRestart[] {
  if (typeof value !== 'string' || value === '' || value.length > longestValue) return [];
  const restarts = value.split(', ').map(parseRestart);
  return restarts.every((restart) => restart !== undefined) ? latestOfEach(restarts) : [];
}

/** Adds a restart; keeps the latest of each tag, latest first, up to {@link mostRestarts}. */
export function withRestart(
  restarts: readonly WorkloadRestart[],
  restart: WorkloadRestart,
): readonly WorkloadRestart[] {
  return [restart, ...latestOfEach(restarts).filter(({ tag }) => tag !== restart.tag)].slice(0, mostRestarts);
}

/** Returns the latest restart of each tag, latest first. */
export function latestOfEach(restarts: readonly WorkloadRestart[]): readonly WorkloadRestart[] {
  const seen = new Set<string>();
  return [...restarts]
    .sort((one, other) => other.at - one.at)
    .filter(({ tag }) => !seen.has(tag) && seen.add(tag))
    .slice(0, mostRestarts);
}

function parseRestart(entry: string): WorkloadRestart | undefined {
  const [tag = '', target = '', time = '', ...rest] = entry.split(' ');
  const at = timePattern.test(time) ? Date.parse(time) : NaN;
  const isOurs = tag.length <= 63 && dnsLabelPattern.test(tag) && targetPattern.test(target) && rest.length === 0;
  // Copy: a substring would keep the whole value in memory.
  return isOurs && Number.isFinite(at) ? { tag: copyOf(tag), target: copyOf(target), at } : undefined;
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
