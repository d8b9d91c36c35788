import { recordOf } from '../../routing/workload-key.ts';

/** How a pod does, as its status says. */
export interface PodHealth {
  /** Its condition Ready. */
  readonly ready: boolean;
  /** How often its containers have restarted, all of them together; at most {@link mostRestarts}. */
  readonly restarts: number;
  /** It has failed, or one of its containers waits after a crash. */
  readonly crashing: boolean;
}

/** More is not counted: no bound asks for more. */
export const mostRestarts = 1001;

/** One object for all pods that do alike: there are tens of thousands, and most are ready. */
const known = new Map<string, PodHealth>();

/** Why a container waits that has crashed before, or cannot be made. */
const crashReasons = new Set<unknown>(['CrashLoopBackOff', 'RunContainerError', 'CreateContainerError', 'StartError']);

/** Reads the status of a pod as the API server sends it; a part of a wrong type counts as absent. The same object for equal ones. */
export function podHealth(status: unknown): PodHealth {
  const { phase, containerStatuses, initContainerStatuses } = recordOf(status);
  const containers = [...listOf(initContainerStatuses), ...listOf(containerStatuses)];
  const sum = containers.reduce((count, { restartCount }) => count + countOf(restartCount), 0);
  const restarts = Math.min(mostRestarts, Math.floor(sum));
  const ready = readyCondition(status)?.['status'] === 'True';
  const crashing = phase === 'Failed' || containers.some(isCrashing);
  const key = `${ready} ${restarts} ${crashing}`;
  const health = known.get(key) ?? { ready, restarts, crashing };
  known.set(key, health);
  return health;
}

/** Since when a pod is ready, or is not, in seconds since 1970; undefined while it has no such condition. */
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

/** A count of a status; 0 where it is none. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}
