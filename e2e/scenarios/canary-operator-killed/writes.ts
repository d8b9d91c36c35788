import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import type { RolloutState } from '../../../src/api/rollout-status.ts';
import type { AuditEvent } from '../../harness/audit-log.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** The tag that rolls out; no other scenario's, since the workloads of a namespace that has just been deleted count for a minute, and a new leader would wait for them. */
export const tag = 'steadfast';

/** One write of a controller in a rollout, as it is compared: what, and where the rollout stood by what was written last. */
export interface RolloutWrite {
  readonly verb: string;
  /** With its subresource: `revisiontags/status`. */
  readonly resource: string;
  readonly name: string;
  /** `25 % WaitingForPods/NotEnoughPods`; of a status what it says itself. */
  readonly phase: string;
  /** Which one of those that are equal in all of that, from 1. */
  readonly ordinal: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The rollout that a status says. */
  readonly state?: RolloutState;
  /** Where a webhook configuration leads. */
  readonly path?: string;
}

const uncounted = ['leases', 'events', ''];
const writeVerbs = ['create', 'update', 'patch', 'delete'];

/** Reads writes one after the other. */
export class WriteReader {
  #phase = 'before';
  #share = 'before';
  readonly #seen = new Map<string, number>();

  /** Undefined for what does not count. */
  read({ verb, resource, subresource, name, at, body, status }: PassedWrite): RolloutWrite | undefined {
    if (uncounted.includes(resource) || status >= 300) return undefined;
    const object = (body === '' ? {} : JSON.parse(body)) as WrittenObject;
    const state = resource === 'revisiontags' ? object.status?.rollout : undefined;
    if (state !== undefined) {
      const { canary, weight, phase, reason } = state;
      this.#share = canary === undefined ? phase : `${weight} %`;
      this.#phase = canary === undefined ? `${phase}/${reason}` : `${this.#share} ${phase}/${reason}`;
    }
    // Its twin, by which a path is tried out, leads nobody anywhere.
    const [{ clientConfig } = {}] = name === tagWebhookConfiguration(tag) ? (object.webhooks ?? []) : [];
    const path = clientConfig?.service?.path;
    const whole = subresource === '' ? resource : `${resource}/${subresource}`;
    const phase = isOfTag(resource) ? this.#phase : resource === 'injectorconfigs' ? '' : this.#share;
    const write = { verb, resource: whole, name: name === '' ? (object.metadata?.name ?? '') : name, phase };
    const ordinal = (this.#seen.get(keyOf(write)) ?? 0) + 1;
    this.#seen.set(keyOf(write), ordinal);
    return { ...write, ordinal, at, ...(state && { state }), ...(path === undefined ? {} : { path }) };
  }
}

interface WrittenObject {
  metadata?: { name?: string };
  status?: { rollout?: RolloutState };
  webhooks?: { clientConfig: { service?: { path: string } } }[];
}

/** Workloads are restarted beside what is said of the tag, so only the share is the same each time; InjectorConfigs say who uses them, at any time. */
function isOfTag(resource: string): boolean {
  return !['deployments', 'injectorconfigs'].includes(resource);
}

/** What of a write is compared. */
export function keyOf({
  verb,
  resource,
  name,
  phase,
}: Pick<RolloutWrite, 'verb' | 'resource' | 'name' | 'phase'>): string {
  return `${verb} ${resource} ${name} (${phase})`;
}

/** One write among equal ones, for people too. */
export function describeWrite(write: RolloutWrite): string {
  return write.ordinal === 1 ? keyOf(write) : `${keyOf(write)} no. ${write.ordinal}`;
}

/** What the controllers have written since a time, Leases and Events apart, once they have been quiet for a moment. */
export async function writesSince(replicas: Replicas, since: number): Promise<RolloutWrite[]> {
  const { proxy } = replicas;
  if (proxy === undefined) throw new Error('this scenario needs a proxy before the API server');
  const names = replicas.controllers.map(({ name }) => name);
  const passed = await waitFor('the controllers to be quiet', async () => {
    const all = await proxy.writes();
    const found = all.filter(({ at, resource, userAgent }) => {
      return at >= since && !uncounted.includes(resource) && names.some((name) => userAgent.includes(name));
    });
    return Date.now() - (found.at(-1)?.at ?? 0) > 500 && found;
  });
  const reader = new WriteReader();
  return passed.flatMap((write) => reader.read(write) ?? []);
}

/** The same as the audit log has it, without phases. */
export function auditedWrites(replicas: Replicas, events: readonly AuditEvent[], since: number): string[] {
  const { username } = replicas.installation;
  return events
    .filter(({ user, verb, responseStatus, objectRef, requestReceivedTimestamp }) => {
      const isWrite = writeVerbs.includes(verb) && (responseStatus?.code ?? 0) < 300;
      const isCounted = !uncounted.includes(objectRef?.resource ?? '');
      return isWrite && isCounted && user.username === username && Date.parse(requestReceivedTimestamp) >= since;
    })
    .map(({ verb, objectRef }) => {
      const { resource = '', subresource, name = '' } = objectRef ?? {};
      return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`} ${name}`;
    });
}

/** Writes of something that no rollout is about. A new leader also writes who uses what: it counts anew. */
export function unplannedWrites(writes: readonly RolloutWrite[]): string[] {
  const known = [
    /^patch revisiontags\/status steadfast$/,
    /^patch injectorconfigs\/status v[12]$/,
    /^patch mutatingwebhookconfigurations sidecar-injector-(probe-)?tag-steadfast$/,
    /^create configmaps sidecar-injector-probe-tag-steadfast$/,
    /^delete mutatingwebhookconfigurations sidecar-injector-probe-tag-steadfast$/,
    /^patch deployments work-\d+$/,
  ];
  const others = writes.filter(
    ({ verb, resource, name }) => !known.some((each) => each.test(`${verb} ${resource} ${name}`)),
  );
  return others.map((write) => `not planned: ${describeWrite(write)}`);
}
