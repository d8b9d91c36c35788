import type { AdmissionServer } from '../admission-server.ts';
import type { ReadinessCheck } from './readiness.ts';

/** Measured on a real API server: closing at once loses admissions, unready and then two seconds of `Connection: close` lost 0 of 16956. */
export const defaultShutDownTimes = {
  /** Milliseconds in which clients are sent away one by one: longer than load balancers take to act on a readiness that turned false. */
  drain: 5_000,
  /** Milliseconds that what is in flight then still gets. */
  close: 10_000,
};

/** Takes a listener out of service without losing an admission. The health server has to stay up until this is done. */
export async function shutDown(server: AdmissionServer, times = defaultShutDownTimes): Promise<void> {
  server.drain();
  await new Promise((resolve) => setTimeout(resolve, times.drain));
  await server.close(times.close);
}

/** Ready only while the listener is not on its way out. */
export function servingCheck(server: AdmissionServer): ReadinessCheck {
  return { name: 'serving', check: () => (server.state === 'serving' ? undefined : server.state) };
}
