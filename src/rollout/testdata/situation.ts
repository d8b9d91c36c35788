import { revisionTag } from '../../api/testdata/revision-tag.ts';
import type { CanaryStrategy, RestartStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision } from '../../api/revision-tag/revision-tag.ts';
import type { ObservedPod, ObservedWorkload, RolloutObservation } from '../observation.ts';

/** 2026-01-01, in milliseconds since 1970. */
export const start = Date.UTC(2026, 0, 1);
export const second = 1000;

/** Returns the time some seconds after the start. */
export function at(seconds: number): Date {
  return new Date(start + seconds * second);
}

/** Returns a canary strategy with the defaults of the schema. */
export function strategyOf(steps: readonly object[], analysis: object = {}): CanaryStrategy {
  const strategy = specOf({ canary: { steps, analysis } });
  if (strategy?.canary === undefined) throw new Error('no canary');
  return strategy.canary;
}

/** Returns restart bounds with the defaults of the schema. */
export function boundsOf(restart: object): RestartStrategy {
  const strategy = specOf({ restart });
  if (strategy?.restart === undefined) throw new Error('no bounds');
  return strategy.restart;
}

function specOf(strategy: object) {
  return revisionTag('prod', { revision: '1-25', strategy }).spec.strategy;
}

export function ref(revision: string, hash = '00000001'): RolloutRevision {
  return { revision, injectorConfig: `config-${revision}`, hash };
}

/** Returns one of `count` evenly spaced ranks. */
export function rankAt(index: number, count = 100): string {
  return (((1n << 64n) * BigInt(index)) / BigInt(count)).toString(16).padStart(16, '0');
}

/** Returns `count` workloads with evenly spaced ranks and `pods` pods each. */
export function workloads(count: number, pods = 1): ObservedWorkload[] {
  return Array.from({ length: count }, (_, index) => {
    return { rank: rankAt(index, count), namespace: index % 2 === 0 ? 'shop' : 'bank', pods };
  });
}

/** Returns pods that have been ready since some seconds after the start. */
export function readyPods(count: number, since = 0): ObservedPod[] {
  const time = start + since * second;
  return Array.from({ length: count }, (_, index) => ({ name: `shop/pod-${index}`, rank: rankAt(index % 100), ready: true, since: time, createdAt: time, restarts: 0, crashing: false }));
}

/** Returns pods that have been unready since some seconds after the start. */
export function unreadyPods(count: number, since = 0): ObservedPod[] {
  return readyPods(count, since).map((pod) => ({ ...pod, ready: false }));
}

/** Returns a healthy tag with 100 workloads whose spec moves from 1-24 to 1-25. */
export function observation(fields: Partial<RolloutObservation> = {}): RolloutObservation {
  return {
    revision: '1-25',
    generation: 2,
    before: ref('1-24'),
    desired: ref('1-25'),
    stable: ref('1-24'),
    workloads: workloads(100),
    pods: { stable: readyPods(100), canary: [] },
    injectionErrors: 0,
    ...fields,
  };
}
