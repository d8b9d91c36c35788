import type { InjectorConfigSpec } from './injector-config.ts';

/** The timeouts by default, in seconds. With Hold, a creation never fails, so it should be fast. */
const usualSeconds = { Fail: 10, Ignore: 10, Hold: 3 } as const;

/** Returns the timeout of a call to the webhook, in seconds. */
export function timeoutSecondsOf({
  timeoutSeconds,
  failurePolicy,
}: Pick<InjectorConfigSpec['webhook'], 'timeoutSeconds' | 'failurePolicy'>): number {
  return timeoutSeconds ?? usualSeconds[failurePolicy];
}
