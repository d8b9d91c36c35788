/** How a pod does, as its status says: a handful of numbers. */
export interface PodHealth {
  /** Its condition Ready. */
  readonly ready: boolean;
  /** Since when it is, or is not, in seconds since 1970; absent while it has no such condition. */
  readonly since?: number;
  /** How often its containers have restarted, all of them together. */
  readonly restarts: number;
  /** It has failed, or one of its containers waits after a crash. */
  readonly crashing: boolean;
}

/** Why a container waits that has crashed before, or cannot be made. */
const crashReasons: readonly unknown[] = [
  'CrashLoopBackOff',
  'RunContainerError',
  'CreateContainerError',
  'StartError',
];

/** Reads the status of a pod as the API server sends it; a part of a wrong type counts as absent. */
export function podHealth(status: unknown): PodHealth {
  const { phase, conditions, containerStatuses, initContainerStatuses } = recordOf(status);
  const condition = listOf(conditions).find(({ type }) => type === 'Ready');
  const containers = [...listOf(initContainerStatuses), ...listOf(containerStatuses)];
  const since = Date.parse(String(condition?.['lastTransitionTime'])) / 1000;
  const restarts = containers.reduce((sum, { restartCount }) => sum + countOf(restartCount), 0);
  const ready = condition?.['status'] === 'True';
  const crashing = phase === 'Failed' || containers.some(isCrashing);
  return Number.isFinite(since) ? { ready, since, restarts, crashing } : { ready, restarts, crashing };
}

function isCrashing({ state }: Record<string, unknown>): boolean {
  return crashReasons.includes(recordOf(recordOf(state)['waiting'])['reason']);
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
