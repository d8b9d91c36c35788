import { phaseOf, readWrite, type RolloutWrite } from '../../../src/operator/rollout/testdata/rollout-rules.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import { countedWrites, identityOf, isCounted } from '../../harness/faulty-proxy/passed-writes.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';

/** A unique tag: workloads of a deleted namespace count for a minute and would delay leaders. */
export const tag = 'steadfast';

/** A controller's write in a rollout. */
export interface KeyedWrite extends RolloutWrite {
  /** The verb, the object, the phase that a status sets, and the ordinal among equal writes. */
  readonly key: string;
}

/** Parses writes in order. */
export class WriteReader {
  #phase = 'before';
  #share = 'before';
  readonly #counts = new Map<string, number>();

  /** Parses one write. Returns undefined for failed writes and ignored resources. */
  read(passed: PassedWrite): KeyedWrite | undefined {
    if (!isCounted(passed.resource) || passed.status >= 300) return undefined;
    const write = readWrite({ ...identityOf(passed), at: passed.at, body: passed.body }, tag);
    const { verb, resource, state } = write;
    if (state !== undefined) {
      this.#phase = phaseOf(state);
      this.#share = state.canary === undefined ? state.phase : `${state.weight} %`;
    }
    // Restarts and usage statistics do not depend on the phase, and their objects are alike.
    const [name, phase] =
      resource === 'deployments'
        ? ['*', this.#share]
        : resource === 'injectorconfigs/status'
          ? ['*', '']
          : [write.name, this.#phase];
    const what = `${verb} ${resource} ${name} (${phase})`;
    const ordinal = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, ordinal);
    return { ...write, key: ordinal === 1 ? what : `${what} no. ${ordinal}` };
  }
}

/** Waits until the controllers stop writing, and returns their writes since a time. */
export async function writesSince(replicas: Replicas, since: number): Promise<KeyedWrite[]> {
  const reader = new WriteReader();
  return (await countedWrites(replicas, since)).flatMap((write) => reader.read(write) ?? []);
}
