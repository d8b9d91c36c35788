import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../../src/api/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

type Secret = KubernetesObject & { data?: Record<string, string> };

const secrets = resourceKind('v1', 'Secret');

/** Is told of every version of the authority's Secret, in their order, by a watch: who only looked now and then would miss some on a slow machine. */
export class SecretFollower {
  readonly #cluster: RotatingCluster;
  readonly #told: (stored: Record<string, string>) => void;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  /** @param told the Secret's data as text */
  constructor(cluster: RotatingCluster, told: (stored: Record<string, string>) => void) {
    this.#cluster = cluster;
    this.#told = told;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { client } = this.#cluster.context;
    const { namespace, names } = this.#cluster;
    const selected = { namespace, fieldSelector: `metadata.name=${names.authoritySecret}` };
    let resourceVersion: string | undefined;
    while (!signal.aborted) {
      try {
        if (resourceVersion === undefined) {
          const list = await client.list<Secret>(secrets, { ...selected, signal });
          for (const secret of list.items) this.#take(secret);
          resourceVersion = list.resourceVersion;
        }
        for await (const { type, object } of client.watch<Secret>(secrets, {
          ...selected,
          resourceVersion,
          timeoutSeconds: 60,
          signal,
        })) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (type === 'ADDED' || type === 'MODIFIED') this.#take(object);
        }
      } catch {
        // Aborted, or the API server was away: then it goes on where it was.
        await sleep(100);
      }
    }
  }

  #take({ data = {} }: Secret): void {
    this.#told(
      Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
      ),
    );
  }
}
