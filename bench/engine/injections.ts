import { inject } from '../../src/inject/inject.ts';
import type { Injector } from '../../src/inject/injector.ts';
import type { PodMaker } from './pods.ts';

let made = 0;

/** Returns `count` parsed pods that no earlier call returned. */
export function parsePods(pods: PodMaker, count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, () => JSON.parse(pods(made++)) as Record<string, unknown>);
}

export function injectAll(injector: Injector, pods: readonly Record<string, unknown>[]): void {
  for (const pod of pods) {
    const result = inject(injector, { pod, namespace: 'shop' });
    if (result.outcome !== 'injected') throw new Error(`not injected: ${JSON.stringify(result)}`);
  }
}
