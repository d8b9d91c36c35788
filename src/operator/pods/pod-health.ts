import { printable } from '../../api/printable-text.ts';
import { recordOf } from '../../routing/workload-key.ts';

export interface PodHealth {
  /** Whether the pod's condition Ready is True. */
  readonly ready: boolean;
  /** The total number of restarts of all containers, at most {@link mostRestarts}. */
  readonly restarts: number;
  /** Whether the pod has failed, or one of its containers waits after a crash. */
  readonly crashing: boolean;
  /** See `ObservedPod.trouble`. */
  readonly trouble?: string;
}

/** The maximum number of restarts to count, one more than any limit of a rollout allows. */
export const mostRestarts = 1001;

/** The shared objects of pods without trouble, of which there are tens of thousands. */
const known = new Map<string, PodHealth>();

/** The reasons of waiting containers that have crashed or cannot be created. */
const crashReasons = new Set<unknown>(['CrashLoopBackOff', 'RunContainerError', 'CreateContainerError', 'StartError']);

/** Reads the health from the status of a pod. Ignores fields of a wrong type. */
export function podHealth(status: unknown): PodHealth {
  const { phase, reason, containerStatuses, initContainerStatuses } = recordOf(status);
  const containers = [...listOf(initContainerStatuses), ...listOf(containerStatuses)];
  const sum = containers.reduce((count, { restartCount }) => count + countOf(restartCount), 0);
  const restarts = Math.min(mostRestarts, Math.floor(sum));
  const ready = readyCondition(status)?.['status'] === 'True';
  const crashing = phase === 'Failed' || containers.some(isCrashing);
  const trouble = troubleOf(containers) ?? (reason === undefined ? undefined : word(reason));
  // Authors choose the names in a text, so it is no part of a key.
  if (trouble !== undefined) return { ready, restarts, crashing, trouble };
  const key = `${ready} ${restarts} ${crashing}`;
  const health = known.get(key) ?? { ready, restarts, crashing };
  known.set(key, health);
  return health;
}

/** Describes the first container that crashes, or else is not ready, or else has restarted. */
function troubleOf(containers: readonly Record<string, unknown>[]): string | undefined {
  const found =
    containers.find(isCrashing) ??
    containers.find(({ ready }) => ready === false) ??
    containers.find(({ restartCount }) => countOf(restartCount) >= 1);
  if (found === undefined) return undefined;
  const { waiting, terminated = recordOf(found['lastState'])['terminated'] } = recordOf(found['state']);
  const { reason = found['ready'] === false ? 'not ready' : 'restarted' } = recordOf(waiting);
  const { exitCode, reason: why } = recordOf(terminated);
  const because = why === undefined ? '' : ` (${word(why)})`;
  const end = typeof exitCode === 'number' ? `, last exit code ${exitCode}${because}` : '';
  return `container ${word(found['name'])}: ${word(reason)}${end}`;
}

/** Returns a name or reason from a status; bounded, and without unprintable characters. */
function word(value: unknown): string {
  return printable(String(value).slice(0, 63));
}

/** Returns when condition Ready last changed, in seconds since 1970; undefined if unknown. */
export function readySince(status: unknown): number | undefined {
  const since = Math.floor(Date.parse(String(readyCondition(status)?.['lastTransitionTime'])) / 1000);
  return Number.isFinite(since) ? since : undefined;
}

function readyCondition(status: unknown): Record<string, unknown> | undefined {
  return listOf(recordOf(status)['conditions']).find(({ type }) => type === 'Ready');
}

function isCrashing({ state }: Record<string, unknown>): boolean {
  return crashReasons.has(recordOf(recordOf(state)['waiting'])['reason']);
}

/** Returns a count from a status; 0 for other values. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}
