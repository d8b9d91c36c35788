import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { parseRestartAnnotation, restartedAnnotation } from '../../../src/api/revision-tag/restart-annotation.ts';
import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import { controllerWrites, countedWrites, identityOf, isCounted } from '../../harness/faulty-proxy/passed-writes.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';

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

/** Of a write that is awaited: whatever the name is. */
export const anyName = '*';

const leaderLease = 'injector-leader-default';

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
  read(passed: PassedWrite): RolloutWrite | undefined {
    const { resource, name, at, body, status } = passed;
    if (!isCounted(resource) || status >= 300) return undefined;
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
    const phase = isOfTag(resource) ? this.#phase : resource === 'injectorconfigs' ? '' : this.#share;
    const write = { ...identityOf(passed), phase };
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
function keyOf({ verb, resource, name, phase }: Omit<RolloutWrite, 'ordinal' | 'at'>): string {
  return `${verb} ${resource} ${name} (${phase})`;
}

/** One write among equal ones, for people too. */
export function describeWrite(write: RolloutWrite): string {
  return write.ordinal === 1 ? keyOf(write) : `${keyOf(write)} no. ${write.ordinal}`;
}

/** What the controllers have written since a time, once they have been quiet for a moment. */
export async function writesSince(replicas: Replicas, since: number): Promise<RolloutWrite[]> {
  const reader = new WriteReader();
  return (await countedWrites(replicas, since)).flatMap((write) => reader.read(write) ?? []);
}

/** When leaders have written that they lead, since a time. Milliseconds since 1970, in order. */
export async function renewalsSince(replicas: Replicas, since: number): Promise<number[]> {
  return (await controllerWrites(replicas, since))
    .filter(({ resource, name, verb, status }) => {
      return resource === 'leases' && name === leaderLease && verb === 'update' && status < 300;
    })
    .map(({ at }) => at);
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
