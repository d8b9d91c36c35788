import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind, type ResourceKind } from '../../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import { readSighting, type Sighting } from './sighting.ts';
import { Standings, type Standing } from './standing.ts';

const followed = [
  resourceKind('apps/v1', 'Deployment'),
  resourceKind('apps/v1', 'StatefulSet'),
  resourceKind('apps/v1', 'DaemonSet'),
  resourceKind('v1', 'Pod'),
];

/**
 * Sees every version of every workload and pod that the API server stores, by watches of its own, and believes no status of ours. All objects are in one etcd,
 * whose revisions order what the four watches show: so the past can be gone through instant by instant (history.ts), however late a watch was.
 */
export class WorkloadObserver {
  readonly #sightings: Sighting[] = [];
  /** As the watches bring it: good for waiting, not for counting. */
  readonly #standings = new Standings();
  readonly #stop = new AbortController();
  readonly #isOurs: (namespace: string) => boolean;
  #failed: unknown;

  private constructor(isOurs: (namespace: string) => boolean) {
    this.#isOurs = isOurs;
  }

  /**
   * What is there has been seen when this resolves; it ends with the scenario.
   *
   * @param isOurs in which namespaces it looks: others may be left from other scenarios
   */
  static async open(context: ScenarioContext, isOurs: (namespace: string) => boolean): Promise<WorkloadObserver> {
    const observer = new WorkloadObserver(isOurs);
    const running: Promise<void>[] = [];
    for (const kind of followed) {
      const { items, resourceVersion } = await context.client.listAll(kind);
      for (const object of items) observer.#see(object, false);
      const watch = observer.#watch(context, kind, resourceVersion);
      running.push(
        watch.catch((error: unknown) => {
          if (!observer.#stop.signal.aborted) observer.#failed = error;
        }),
      );
    }
    context.atEnd(async () => {
      observer.#stop.abort();
      await Promise.all(running);
    });
    return observer;
  }

  /** All that was seen. Fails when a watch has: then something may be missing. */
  sightings(): readonly Sighting[] {
    if (this.#failed !== undefined) throw new Error('a watch of the observer has failed', { cause: this.#failed });
    return this.#sightings;
  }

  /** The newest revision that was seen. */
  latest(): number {
    return this.sightings().reduce((newest, { revision }) => Math.max(newest, revision), 0);
  }

  /** How a workload (`namespace/name`) stands now. */
  standing(workload: string): Standing | undefined {
    this.sightings();
    return this.#standings.all.get(workload);
  }

  /** Whether a workload is whole, and all its pods are made by an InjectorConfig. */
  isWholeBy(workload: string, injectorConfig: string): boolean {
    const standing = this.standing(workload);
    if (standing?.object === undefined || !standing.whole || standing.pods.size === 0) return false;
    return [...standing.pods.values()].every(({ maker }) => maker === injectorConfig);
  }

  async #watch({ client }: ScenarioContext, kind: ResourceKind, from: string): Promise<void> {
    const { signal } = this.#stop;
    let resourceVersion = from;
    // The API server ends a watch from time to time; the next one goes on where it ended.
    while (!signal.aborted) {
      for await (const { type, object } of client.watch(kind, { resourceVersion, signal })) {
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type !== 'BOOKMARK') this.#see(object, type === 'DELETED');
      }
    }
  }

  #see(object: KubernetesObject, gone: boolean): void {
    const sighting = readSighting(object, gone, Date.now());
    if (sighting === undefined || !this.#isOurs(sighting.namespace)) return;
    this.#sightings.push(sighting);
    this.#standings.take(sighting);
  }
}
