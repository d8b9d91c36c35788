import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { parseRestartAnnotation, restartedAnnotation } from '../../../src/api/revision-tag/restart-annotation.ts';
import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import type { AuditEvent } from '../../harness/audit-log.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** The tag that rolls out; no other scenario's, since the workloads of a namespace that has just been deleted count for a minute, and a new leader would wait for them. */
export const tag = 'steadfast';

/** One write of a controller in a rollout, as it is compared: what, and where the rollout stood by what was written last. */
export interface RolloutWrite {
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  /** `25 % WaitingForPods/NotEnoughPods`; of a status what it says itself. */
  readonly phase: string;
  /** Which one of those that are equal in all of that, from 1; for {@link anyName} of those that differ in their name. */
  readonly ordinal: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly state?: RolloutState;
  readonly path?: string;
  readonly restart?: string;
}

const uncounted = ['leases', 'events', ''];
/** Of a write that is awaited: whatever the name is. */
export const anyName = '*';

const leaderLease = 'injector-leader-default';
const writeVerbs = ['create', 'update', 'patch', 'delete'];

/** The phase of what is written before a rollout has begun. */
export const phaseBefore = 'before';

/** Reads writes one after the other. */
export class WriteReader {
  #phase = phaseBefore;
  #share = phaseBefore;
  readonly #seen = new Map<string, number>();

  isAwaited(read: RolloutWrite, awaited: RolloutWrite): boolean {
    const isSame = keyOf({ ...read, name: awaited.name === anyName ? anyName : read.name }) === keyOf(awaited);
    return isSame && this.#seen.get(keyOf(awaited)) === awaited.ordinal;
  }

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
    for (const each of [write, { ...write, name: anyName }]) {
      this.#seen.set(keyOf(each), (this.#seen.get(keyOf(each)) ?? 0) + 1);
    }
    const ordinal = this.#seen.get(keyOf(write)) ?? 1;
    const target = restartTarget(object);
    return {
      ...write,
      ordinal,
      at,
      ...(state && { state }),
      ...(path === undefined ? {} : { path }),
      ...(target === undefined ? {} : { restart: `${resource} ${write.name} for ${target}` }),
    };
  }
}

interface WrittenObject {
  metadata?: { name?: string };
  spec?: { template?: { metadata?: { annotations?: Record<string, string> } } };
  status?: { rollout?: RolloutState };
  webhooks?: { clientConfig: { service?: { path: string } } }[];
}

function restartTarget({ spec }: WrittenObject): string | undefined {
  const restarts = parseRestartAnnotation(spec?.template?.metadata?.annotations?.[restartedAnnotation]);
  return restarts.find((restart) => restart.tag === tag)?.target;
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
  const passed = await waitFor('the controllers to be quiet', async () => {
    const found = (await passedSince(replicas, since)).filter(({ resource }) => !uncounted.includes(resource));
    return Date.now() - (found.at(-1)?.at ?? 0) > 500 && found;
  });
  const reader = new WriteReader();
  return passed.flatMap((write) => reader.read(write) ?? []);
}

/** When leaders have written that they lead, since a time. Milliseconds since 1970, in order. */
export async function renewalsSince(replicas: Replicas, since: number): Promise<number[]> {
  return (await passedSince(replicas, since))
    .filter(({ resource, name, verb, status }) => {
      return resource === 'leases' && name === leaderLease && verb === 'update' && status < 300;
    })
    .map(({ at }) => at);
}

async function passedSince(replicas: Replicas, since: number): Promise<PassedWrite[]> {
  const { proxy } = replicas;
  const names = replicas.controllers.map(({ name }) => name);
  const all = await proxy.writes();
  return all.filter(({ at, userAgent }) => at >= since && names.some((name) => userAgent.includes(name)));
}

/** What was asked for since a time, and answered until another, as the audit log has it, without phases. Milliseconds since 1970. */
export function auditedWrites(
  replicas: Replicas,
  events: readonly AuditEvent[],
  { since, until }: { readonly since: number; readonly until: number },
): string[] {
  const { username } = replicas.installation;
  return events
    .filter(({ user, verb, responseStatus, objectRef, requestReceivedTimestamp, stageTimestamp }) => {
      const isWrite = writeVerbs.includes(verb) && (responseStatus?.code ?? 0) < 300;
      const isCounted = !uncounted.includes(objectRef?.resource ?? '');
      const isThen = Date.parse(requestReceivedTimestamp) >= since && Date.parse(stageTimestamp) <= until;
      return isWrite && isCounted && user.username === username && isThen;
    })
    .map(({ verb, objectRef }) => {
      const { resource = '', subresource, name = '' } = objectRef ?? {};
      return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`} ${name}`;
    });
}

const planned = [
  /^patch revisiontags\/status steadfast$/,
  /^patch injectorconfigs\/status v[123]$/,
  /^patch mutatingwebhookconfigurations sidecar-injector-(probe-)?tag-steadfast$/,
  /^create configmaps sidecar-injector-probe-tag-steadfast$/,
  /^delete mutatingwebhookconfigurations sidecar-injector-probe-tag-steadfast$/,
  /^patch deployments work-\d+$/,
];

/** Whether it is of something that rollouts are about. A new leader also writes who uses what: it counts again. */
export function isPlanned({ verb, resource, name, restart }: RolloutWrite): boolean {
  // Workloads are restarted, and nothing else is done to them.
  if (resource === 'deployments' && restart === undefined) return false;
  return planned.some((each) => each.test(`${verb} ${resource} ${name}`));
}
