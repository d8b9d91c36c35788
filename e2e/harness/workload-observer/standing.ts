import type { PodSeen, Sighting, WorkloadSeen } from './sighting.ts';

export interface Standing {
  readonly namespace: string;
  object: WorkloadSeen | undefined;
  readonly pods: Map<string, PodSeen>;
  /** Whether the status is settled, and the desired number of pods exists and is ready. */
  whole: boolean;
  /** The time of the last change of `whole`, in milliseconds since 1970. */
  since: number;
}

/** The state of all workloads after the sightings that were passed to `take`. */
export class Standings {
  readonly all = new Map<string, Standing>();
  /** The workloads that are not whole, with their namespaces. */
  readonly disturbed = new Map<string, string>();

  /** Applies a sighting. Reports whether it has a new spec of its workload. */
  take({ workload, namespace, at, seen }: Sighting): boolean {
    const standing = this.all.get(workload) ?? { namespace, object: undefined, pods: new Map(), whole: true, since: 0 };
    this.all.set(workload, standing);
    const before = standing.object?.generation;
    if (seen.what === 'workload') standing.object = seen;
    else if (seen.gone) standing.pods.delete(seen.uid);
    else standing.pods.set(seen.uid, seen);
    const whole = isWhole(standing);
    if (whole !== standing.whole) standing.since = at;
    standing.whole = whole;
    if (whole) this.disturbed.delete(workload);
    else this.disturbed.set(workload, namespace);
    return before !== undefined && standing.object?.generation !== before;
  }
}

function isWhole({ object, pods }: Standing): boolean {
  // Pods of other workloads, such as Jobs, are never replaced.
  if (object === undefined) return true;
  return object.settled && pods.size === object.desired && [...pods.values()].every(({ ready }) => ready);
}
