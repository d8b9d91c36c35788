import { Buffer } from 'node:buffer';
import { dnsLabelPattern } from '../kubernetes/field-types.ts';
import { ownName } from '../own-names.ts';

/** The pod template annotation that restarts a workload. It is the only record of the restart. */
export const restartedAnnotation = ownName('restarted');

/** With value `"false"`, this annotation of a workload excludes the workload from all restarts. */
export const restartChoiceAnnotation = ownName('restart');

/** With value `deny`, this annotation of a namespace excludes its workloads from all restarts. */
export const updatesAnnotation = ownName('updates');

export interface WorkloadRestart {
  readonly tag: string;
  /** The configuration for the new pods, `<InjectorConfig>.<hash8>`. */
  readonly target: string;
  /** The time of the restart, in milliseconds since 1970. */
  readonly at: number;
}

/** The maximum number of restarts in the annotation. A pod belongs to few families. */
const mostRestarts = 8;
/** The maximum length of the value in characters; eight of the longest restarts fit. */
const longestValue = 2048;

const targetPattern = /^[a-z0-9-]{1,63}\.[0-9a-f]{8}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

/** Formats restarts as `<tag> <target> <RFC 3339 time>`, separated by commas. */
export function formatRestartAnnotation(restarts: readonly WorkloadRestart[]): string {
  return restarts.map(({ tag, target, at }) => `${tag} ${target} ${new Date(at).toISOString()}`).join(', ');
}

/**
 * Parses {@link restartedAnnotation} into the latest restart of each tag, latest first. Returns an
 * empty list if any part is malformed, because in that case an author wrote the value.
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
  // Copy the texts, because a substring would keep the whole value in memory.
  return isOurs && Number.isFinite(at) ? { tag: copyOf(tag), target: copyOf(target), at } : undefined;
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
