import { objectAt } from '../objects/workload-kinds.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { listOf } from './admission-pod.ts';
import { amountOf } from './quantity.ts';

/**
 * Returns what the containers of a pod need of a resource (k8s.io/component-helpers/resource,
 * AggregateContainerRequests): containers and native sidecars together, or the largest need of an
 * init container. A request defaults to the limit.
 */
export function containerSum(spec: JsonObject, part: 'requests' | 'limits', name: string): number {
  const own = (container: JsonObject): number => {
    const amounts = objectAt(container, ['resources', part]);
    return amountIn(Object.hasOwn(amounts, name) ? amounts : objectAt(container, ['resources', 'limits']), name);
  };
  let sidecars = 0;
  let starting = 0;
  for (const container of listOf(spec.initContainers)) {
    if (container.restartPolicy === 'Always') sidecars += own(container);
    starting = Math.max(starting, sidecars + (container.restartPolicy === 'Always' ? 0 : own(container)));
  }
  const running = listOf(spec.containers).reduce((sum, container) => sum + own(container), sidecars);
  return Math.max(starting, running);
}

/** Returns an amount; 0 if it is absent or, in a file, invalid. */
export function amountIn(amounts: JsonObject, name: string): number {
  const value = Object.hasOwn(amounts, name) ? amounts[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? (amountOf(String(value)) ?? 0) : 0;
}
