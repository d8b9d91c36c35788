import type { AuditEvent } from '../audit-log.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { waitFor } from '../wait-for.ts';
import type { PassedWrite } from './faulty-proxy-worker.ts';

/** Reports whether writes of a resource count. Leases, Events and other paths do not count. */
export function isCounted(resource: string): boolean {
  return !['leases', 'events', ''].includes(resource);
}

export function nameIn(body: string): string {
  const { metadata } = JSON.parse(body) as { metadata?: { name?: string } };
  return metadata?.name ?? '';
}

/** Returns verb, resource (`revisiontags/status`) and name. A creation's name is in the body. */
export function identityOf({ verb, resource, subresource, name, body }: PassedWrite) {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return { verb, resource: whole, name: name === '' ? nameIn(body) : name };
}

/** Returns all writes by controllers since a time, in milliseconds since 1970. */
export async function controllerWrites({ controllers, proxy }: Replicas, since: number): Promise<PassedWrite[]> {
  const writes = await proxy.writes();
  return writes.filter(({ at, userAgent }) => at >= since && controllers.some(({ name }) => userAgent.includes(name)));
}

/** Waits until the controllers stop writing. Returns their counted successful writes. */
export async function countedWrites(replicas: Replicas, since: number): Promise<PassedWrite[]> {
  const found = await waitFor('the controllers to be quiet', async () => {
    const counted = (await controllerWrites(replicas, since)).filter(({ resource }) => isCounted(resource));
    return Date.now() - (counted.at(-1)?.at ?? 0) > 700 && counted;
  });
  return found.filter(({ status }) => status < 300);
}

/** Formats counted successful writes between two times as `verb resource name`. */
export function describeAudited(writes: readonly AuditEvent[], since: number, until = Infinity): string[] {
  return writes
    .filter(({ responseStatus, objectRef, requestReceivedTimestamp, stageTimestamp }) => {
      const isDone = (responseStatus?.code ?? 0) < 300 && Date.parse(stageTimestamp) <= until;
      return isDone && isCounted(objectRef?.resource ?? '') && Date.parse(requestReceivedTimestamp) >= since;
    })
    .map(({ verb, objectRef }) => {
      const { resource = '', subresource, name = '' } = objectRef ?? {};
      return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`} ${name}`;
    });
}
