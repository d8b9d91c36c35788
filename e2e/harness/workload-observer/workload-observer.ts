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
 * Records every stored version of workloads and pods with watches, independent of the operator's
 * status. All versions come from one etcd, whose revisions order them across watches, so that
 * history.ts can replay them even if a watch is late.
 */
export class WorkloadObserver {
  readonly #sightings: Sighting[] = [];
  /** The state in order of arrival, which suffices for waiting, but not for counting. */
  readonly #standings = new Standings();
  readonly #following: Following[] = [];
  readonly #isOurs: (namespace: string) => boolean;

  private constructor(isOurs: (namespace: string) => boolean) {
    this.#isOurs = isOurs;
  }

  /**
   * Starts to observe. Resolves when existing objects are recorded. Ends with the scenario.
   *
   * @param isOurs selects the scenario's namespaces
   */
  static async open(context: ScenarioContext, isOurs: (namespace: string) => boolean): Promise<WorkloadObserver> {
    const observer = new WorkloadObserver(isOurs);
    for (const kind of followed) {
      const see = (object: KubernetesObject, gone: boolean) => observer.#see(object, gone);
      observer.#following.push(await follow(context, kind, {}, see));
    }
    return observer;
  }

  sightings(): readonly Sighting[] {
    const failure = this.#following.map((each) => each.failure()).find((each) => each !== undefined);
    if (failure !== undefined) throw new Error('a watch of the observer failed', { cause: failure });
    return this.#sightings;
  }

  latest(): number {
    return this.sightings().reduce((newest, { revision }) => Math.max(newest, revision), 0);
  }

  standing(workload: string): Standing | undefined {
    this.sightings();
    return this.#standings.all.get(workload);
  }

  /** Reports whether a workload is whole and an InjectorConfig injected all its pods. */
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
