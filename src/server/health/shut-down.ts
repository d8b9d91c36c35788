import { setTimeout as delay } from 'node:timers/promises';
import type { AdmissionServer } from '../admission-server.ts';
import type { ReadinessCheck } from './readiness.ts';

/**
 * Times in milliseconds. With a real API server, closing immediately lost admissions, but becoming
 * unready and then sending `Connection: close` for two seconds lost 0 of 16956 admissions.
 */
export const defaultShutDownTimes = {
  /** The shortest time to drain. Load balancers react to an unready replica within this time. */
  drain: 5_000,
  /** The time for requests in flight after draining. */
  close: 10_000,
};

/**
 * Shuts down a listener without losing an admission. The health server must run until the end.
 * Each answer ends its connection while the listener drains, so further requests show that a load
 * balancer has not reacted yet. While they arrive, the listener drains up to twice as long. In the
 * last part, it also fails the probe that excludes `serving`: kube-proxy may send connections to
 * replicas that end, and must know before the port is closed that this one is none of them.
 */
export async function shutDown(
  server: Pick<AdmissionServer, 'drain' | 'leave' | 'requests' | 'close'>,
  times = defaultShutDownTimes,
  sleep: (milliseconds: number) => Promise<unknown> = delay,
): Promise<void> {
  server.drain();
  let before = server.requests;
  for (let half = 1; half <= 3; half++) {
    await sleep(times.drain / 2);
    if (half > 1 && server.requests === before) break;
    before = server.requests;
  }
  server.leave();
  await sleep(times.drain / 2);
  await server.close(times.close);
}

/** Returns a check that passes while the listener serves and does not drain. */
export function servingCheck(server: AdmissionServer): ReadinessCheck {
  return { name: 'serving', check: () => (server.state === 'serving' ? undefined : server.state) };
}
