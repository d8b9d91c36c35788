import { dnsLabelPattern } from '../kubernetes/field-types.ts';
import { ownName } from '../own-names.ts';

/** Annotation of a pod template: for which tags the workload was restarted. Writing it is the restart, and all that is remembered of it. */
export const restartedAnnotation = ownName('restarted');

/** Annotation of a Deployment, StatefulSet or DaemonSet: `"false"` leaves it out of all restarts. */
export const restartChoiceAnnotation = ownName('restart');

/** One restart, as the annotation says it. */
export interface WorkloadRestart {
  /** The RevisionTag for which it was restarted. */
  readonly tag: string;
  /** `N.<hash8>`: what its pods were to get. */
  readonly target: string;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** So many are kept: each pod is in few families of injectors at once. */
const mostRestarts = 8;
/** A longer value is not one of ours. Eight of the longest restarts are shorter. */
const longestValue = 2048;

const targetPattern = /^[a-z0-9-]{1,63}\.[0-9a-f]{8}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

/** The value of {@link restartedAnnotation}: `<tag> <N.hash8> <RFC 3339 time>`, of several with commas between them. */
export function formatRestartAnnotation(restarts: readonly WorkloadRestart[]): string {
  return restarts.map(({ tag, target, at }) => `${tag} ${target} ${new Date(at).toISOString()}`).join(', ');
}

/**
 * Reads the value of {@link restartedAnnotation}, the latest restart first, one of each tag. Anybody who may edit the workload may have written it:
 * a value of which any part is not as we write it says nothing, so that the workload counts as not restarted by us.
 */
export function parseRestartAnnotation(value: unknown): readonly WorkloadRestart[] {
  if (typeof value !== 'string' || value === '' || value.length > longestValue) return [];
  const restarts = value.split(', ').map(parseRestart);
  return restarts.every((restart) => restart !== undefined) ? latestOfEach(restarts) : [];
}

/** What to remember when a workload is restarted again: one restart of each tag, the latest first, the oldest ones forgotten. */
export function withRestart(
  restarts: readonly WorkloadRestart[],
  restart: WorkloadRestart,
): readonly WorkloadRestart[] {
  return [restart, ...latestOfEach(restarts).filter(({ tag }) => tag !== restart.tag)].slice(0, mostRestarts);
}

/** The latest restart for each tag out of some, the latest of all first. */
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
  // Copies of their own: parts of a text would keep the whole of it in memory.
  return isOurs && Number.isFinite(at) ? { tag: copyOf(tag), target: copyOf(target), at } : undefined;
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
