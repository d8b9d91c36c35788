import type { AuditEvent } from '../../harness/audit-log.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** One write of a rotation, as it is compared: what, and in which phase of the rotation. */
export interface RotationWrite {
  verb: string;
  /** With its subresource: `injectorconfigs/status`. */
  resource: string;
  name: string;
  /** What the rotation's record said when it was written: `Stable`, `Publishing`, `Confirming`, `Retiring`. */
  phase: string;
  /** What it said, without what the API server or the time of day decides. */
  body: string;
}

const uncounted = ['leases', 'events'];
const writeVerbs = ['create', 'update', 'patch', 'delete'];

/** Replaces the authority once and returns the writes of the controllers, in their order: taken from the audit log, phases from the bodies. */
export async function rotateUndisturbed(cluster: RotatingCluster): Promise<RotationWrite[]> {
  const { context } = cluster;
  // What is written once after the start is not part of a rotation.
  const before = Date.now();
  await waitForEnd(cluster, await cluster.request('authority-force'));
  // Nor is what comes after the end of the one before.
  await writesSince(cluster, before);
  const since = Date.now();
  await waitForEnd(cluster, await cluster.request('authority-force'));
  const writes = await writesSince(cluster, since);
  const audited = auditedWrites(cluster, cluster.audit.events(), since);
  await context.checkNow(
    `an undisturbed rotation: ${writes.length} writes, the same in the audit log`,
    () => writes.length > 0 && writes.map(keyWithoutPhase).join('\n') === audited.join('\n'),
  );
  return writes;
}

/** Waits until a request is done and nothing retires any more: a rotation by force ends there, and its last status says so. */
export async function waitForEnd(cluster: RotatingCluster, nonce: string, timeout = 60_000): Promise<void> {
  await cluster.waitForDone(nonce, timeout);
  await waitFor('the rotation to have ended', async () => (await cluster.status()).phase === 'Stable', { timeout });
}

/** What the controllers have written since a time, Leases and Events apart, once they have been quiet for a moment. */
export async function writesSince(cluster: RotatingCluster, since: number): Promise<RotationWrite[]> {
  const { proxy } = cluster.replicas;
  if (proxy === undefined) throw new Error('this scenario needs a proxy before the API server');
  const passed = await waitFor('the controllers to be quiet', async () => {
    const found = (await proxy.writes()).filter((write) => isCounted(write.resource) && write.status < 300);
    const last = found.at(-1)?.at ?? 0;
    return Date.now() - last > 700 && found.filter(({ at }) => at >= since);
  });
  let phase = 'Stable';
  return passed.filter(isOfController(cluster)).map((write) => {
    const { verb, resource, subresource, name } = write;
    if (resource === 'secrets' && name === cluster.names.authoritySecret) phase = phaseIn(write.body);
    const whole = subresource === '' ? resource : `${resource}/${subresource}`;
    return { verb, resource: whole, name: name === '' ? nameIn(write.body) : name, phase, body: essence(write.body) };
  });
}

/** What of a write is compared. */
export function keyOf(write: RotationWrite): string {
  return `${keyWithoutPhase(write)} ${write.phase}`;
}

export function describeWrite({ verb, resource, name, phase }: RotationWrite): string {
  return `${phase}: ${verb} ${resource} ${name}`;
}

function keyWithoutPhase({ verb, resource, name }: RotationWrite): string {
  return `${verb} ${resource} ${name}`;
}

function auditedWrites({ replicas, namespace }: RotatingCluster, events: AuditEvent[], since: number): string[] {
  const { username } = replicas.installation;
  return events
    .filter(({ user, verb, responseStatus, objectRef, requestReceivedTimestamp }) => {
      const isWrite = writeVerbs.includes(verb) && (responseStatus?.code ?? 0) < 300;
      const isOurs = user.username === username && isCounted(objectRef?.resource ?? '');
      const isProbe = (objectRef?.namespace ?? namespace) !== namespace;
      return isWrite && isOurs && !isProbe && Date.parse(requestReceivedTimestamp) >= since;
    })
    .map(({ verb, objectRef }) => {
      const { resource = '', subresource, name = '' } = objectRef ?? {};
      return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`} ${name}`;
    });
}

function isCounted(resource: string): boolean {
  return resource !== '' && !uncounted.includes(resource);
}

function isOfController({ replicas }: RotatingCluster): (write: PassedWrite) => boolean {
  const names = replicas.controllers.map(({ name }) => name);
  return ({ userAgent }) => names.some((name) => userAgent.includes(name));
}

/** The phase that the rotation's record shows. */
function phaseIn(body: string): string {
  const { data, stringData } = JSON.parse(body) as Partial<Record<'data' | 'stringData', Record<string, string>>>;
  const json = stringData?.['rotation.json'] ?? Buffer.from(data?.['rotation.json'] ?? '', 'base64').toString('utf8');
  const { staged, retiring = [] } = JSON.parse(json) as { staged?: { publishedAt?: string }; retiring?: unknown[] };
  if (staged !== undefined) return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

function nameIn(body: string): string {
  const { metadata } = JSON.parse(body) as { metadata?: { name?: string } };
  return metadata?.name ?? '';
}

function essence(body: string): string {
  return body.replace(/"(resourceVersion|lastTransitionTime)":"[^"]*"/g, '"$1":""');
}
