import type { PodSeen, Sighting, WorkloadSeen } from './sighting.ts';

export interface Standing {
  readonly namespace: string;
  object: WorkloadSeen | undefined;
  readonly pods: Map<string, PodSeen>;
  /** Its own object says that nothing is to be done, and all pods that it is to have are there and ready, and no others. */
  whole: boolean;
  /** When it last became so, or stopped to be: milliseconds since 1970. */
  since: number;
}

/** All workloads at one instant: what has been seen so far, one version after the other. */
export class Standings {
  readonly all = new Map<string, Standing>();
  /** Those that are not whole, and in which namespaces they are. */
  readonly disturbed = new Map<string, string>();

  /** Returns how the workload stands now, and whether its template or another part of its spec has changed with this. */
  take({ workload, namespace, at, seen }: Sighting): { readonly standing: Standing; readonly edited: boolean } {
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
    return { standing, edited: before !== undefined && standing.object?.generation !== before };
  }
}

function isWhole({ object, pods }: Standing): boolean {
  // Pods that nobody makes again, such as those of a Job.
  if (object === undefined) return true;
  return object.settled && pods.size === object.desired && [...pods.values()].every(({ ready }) => ready);
}
