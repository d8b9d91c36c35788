import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';

interface Lease extends KubernetesObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseTransitions?: number };
}

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');

/** What a leader's Lease showed in a stretch of time. */
export interface LeaseFigures {
  readonly holders: string[];
  readonly transitions: number;
  readonly renewals: number;
  /** Milliseconds, the end of the stretch included. */
  readonly longestGap: number;
}

/** Every version of the Lease that an operator leads by, from a watch. */
export class LeaseRecord {
  readonly #seen: { holder: string; renewedAt: number; transitions: number }[] = [];
  readonly #stop = new AbortController();

  /** Begins to look, until the scenario ends. */
  static async open(context: ScenarioContext, namespace: string, holder: string): Promise<LeaseRecord> {
    const record = new LeaseRecord();
    const name = await waitFor('the leader to hold its Lease', async () => {
      const { items } = await context.client.listAll<Lease>(leases, { namespace });
      const held = items.find(({ spec }) => spec?.leaseTransitions !== undefined && spec.holderIdentity === holder);
      return held?.metadata.name;
    });
    const running = record.#follow(context, namespace, name);
    context.atEnd(async () => {
      record.#stop.abort();
      await running;
    });
    return record;
  }

  /** Between two times, in milliseconds since 1970. */
  between(from: number, to: number): LeaseFigures {
    const known = this.#seen.filter(({ renewedAt }) => renewedAt <= to);
    const before = known.findLast(({ renewedAt }) => renewedAt <= from);
    const within = known.filter(({ renewedAt }) => renewedAt > from);
    const all = before === undefined ? within : [before, ...within];
    const times = [...all.map(({ renewedAt }) => renewedAt), to];
    const [first] = all;
    return {
      holders: [...new Set(all.map(({ holder }) => holder))],
      transitions: (all.at(-1)?.transitions ?? 0) - (first?.transitions ?? 0),
      renewals: within.length,
      longestGap: Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? time))),
    };
  }

  async #follow({ client }: ScenarioContext, namespace: string, name: string): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await client.list<Lease>(leases, { namespace });
        for (const lease of items) if (lease.metadata.name === name) this.#note(lease);
        for await (const { type, object } of client.watch<Lease>(leases, { namespace, resourceVersion, signal })) {
          if (type !== 'BOOKMARK' && object.metadata.name === name) this.#note(object);
        }
      } catch {
        // A watch that ends is begun again from what is there: renewTime and leaseTransitions tell what was between.
      }
    }
  }

  #note({ spec = {} }: Lease): void {
    const { holderIdentity = '', renewTime = '', leaseTransitions = 0 } = spec;
    const renewedAt = Date.parse(renewTime);
    if (this.#seen.at(-1)?.renewedAt === renewedAt) return;
    this.#seen.push({ holder: holderIdentity, renewedAt, transitions: leaseTransitions });
  }
}
