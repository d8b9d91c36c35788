import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { follow, type Following } from '../follow.ts';
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
  readonly #following: Following[] = [];
  readonly #isOurs: (namespace: string) => boolean;

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
    for (const kind of followed) {
      const see = (object: KubernetesObject, gone: boolean) => {
        observer.#see(object, gone);
      };
      observer.#following.push(await follow(context, kind, {}, see));
    }
    return observer;
  }

  sightings(): readonly Sighting[] {
    const failure = this.#following.map((each) => each.failure()).find((each) => each !== undefined);
    if (failure !== undefined) throw new Error('a watch of the observer has failed', { cause: failure });
    return this.#sightings;
  }

  latest(): number {
    return this.sightings().reduce((newest, { revision }) => Math.max(newest, revision), 0);
  }

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

  #see(object: KubernetesObject, gone: boolean): void {
    const sighting = readSighting(object, gone, Date.now());
    if (sighting === undefined || !this.#isOurs(sighting.namespace)) return;
    this.#sightings.push(sighting);
    this.#standings.take(sighting);
  }
}
