import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { parseRestartAnnotation, restartedAnnotation } from '../../../src/api/revision-tag/restart-annotation.ts';
import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import { controllerWrites, countedWrites, identityOf, isCounted } from '../../harness/faulty-proxy/passed-writes.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';

/** A unique tag: workloads of a deleted namespace count for a minute and would delay leaders. */
export const tag = 'steadfast';

/** A controller's write in a rollout, with the phase of the last status that was written. */
export interface RolloutWrite {
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  /** The phase, for example `25 % WaitingForPods/NotEnoughPods`. A status write sets it. */
  readonly phase: string;
  /** The index (from 1) among writes with equal fields. {@link anyName} matches every name. */
  readonly ordinal: number;
  /** The time of the write, in milliseconds since 1970. */
  readonly at: number;
  readonly state?: RolloutState;
  readonly path?: string;
  readonly restart?: string;
}

/** Matches any name in an awaited write. */
export const anyName = '*';

const leaderLease = 'injector-leader-default';

/** The phase of writes before a rollout begins. */
export const phaseBefore = 'before';

/** Parses writes in order. */
export class WriteReader {
  #phase = phaseBefore;
  #share = phaseBefore;
  readonly #seen = new Map<string, number>();

  isAwaited(read: RolloutWrite, awaited: RolloutWrite): boolean {
    const isSame = keyOf({ ...read, name: awaited.name === anyName ? anyName : read.name }) === keyOf(awaited);
    return isSame && this.#seen.get(keyOf(awaited)) === awaited.ordinal;
  }

  /** Parses one write. Returns undefined for failed writes and ignored resources. */
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
    // Ignore the probe webhook, whose path selects no workload.
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

/** Reports whether writes depend on the full phase. Restarts and usage statistics do not. */
function isOfTag(resource: string): boolean {
  return !['deployments', 'injectorconfigs'].includes(resource);
}

/** Returns the compared fields of a write. */
function keyOf({ verb, resource, name, phase }: Omit<RolloutWrite, 'ordinal' | 'at'>): string {
  return `${verb} ${resource} ${name} (${phase})`;
}

/** Describes a write; adds its ordinal if there are several equal writes. */
export function describeWrite(write: RolloutWrite): string {
  return write.ordinal === 1 ? keyOf(write) : `${keyOf(write)} no. ${write.ordinal}`;
}

/** Waits until the controllers stop writing, and returns their writes since a time. */
export async function writesSince(replicas: Replicas, since: number): Promise<RolloutWrite[]> {
  const reader = new WriteReader();
  return (await countedWrites(replicas, since)).flatMap((write) => reader.read(write) ?? []);
}

/** Returns the times of Lease renewals since a time, in milliseconds since 1970, in order. */
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

/** Reports whether a write belongs to a rollout, or to the usage statistics of a new leader. */
export function isPlanned({ verb, resource, name, restart }: RolloutWrite): boolean {
  // The only change of a workload is its restart.
  if (resource === 'deployments' && restart === undefined) return false;
  return planned.some((each) => each.test(`${verb} ${resource} ${name}`));
}
