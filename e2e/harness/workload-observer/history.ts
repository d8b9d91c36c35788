import type { Sighting } from './sighting.ts';
import { Standings } from './standing.ts';

export interface Window {
  /** The etcd revision after which the window begins. Earlier versions give the initial state. */
  readonly after: number;
  readonly except?: readonly string[];
}

interface Peak {
  readonly count: number;
  readonly which: readonly string[];
}

/** Returns the maximum number of workloads that were not whole after any stored version. */
export function disturbances(sightings: readonly Sighting[], { after, except = [] }: Window) {
  const standings = new Standings();
  /** The number of evaluated versions. */
  let instants = 0;
  // Workloads that were not whole at the peak: in the cluster, and in the worst namespace.
  let [cluster, namespace] = [none, none];
  for (const sighting of inOrder(sightings)) {
    standings.take(sighting);
    if (sighting.revision <= after) continue;
    instants++;
    const disturbed = [...standings.disturbed].filter(([workload]) => !except.includes(workload));
    const inNamespace = disturbed.filter(([, each]) => each === sighting.namespace);
    cluster = larger(cluster, disturbed);
    namespace = larger(namespace, inNamespace);
  }
  return { instants, cluster, namespace };
}

/**
 * Returns the maximum number of workloads that, at a restart, were not yet whole for `wholeMs`.
 *
 * @param wholeMs how long a restarted workload must be whole, in milliseconds of observer time
 */
export function slotsTaken(sightings: readonly Sighting[], { after, except = [] }: Window, wholeMs: number): Peak {
  const standings = new Standings();
  let most = none;
  for (const sighting of inOrder(sightings)) {
    if (!standings.take(sighting) || sighting.revision <= after) continue;
    const taken = [...standings.all].filter(([workload, { whole, since }]) => {
      return !except.includes(workload) && (!whole || sighting.at - since < wholeMs);
    });
    most = larger(most, taken);
  }
  return most;
}

/** Counts the changes of each workload's spec. */
export function edits(sightings: readonly Sighting[], after: number): Map<string, number> {
  const standings = new Standings();
  const counts = new Map<string, number>();
  for (const sighting of inOrder(sightings)) {
    const { workload, revision } = sighting;
    if (standings.take(sighting) && revision > after) counts.set(workload, (counts.get(workload) ?? 0) + 1);
  }
  return counts;
}

/**
 * Counts the pods created for each workload, and the pods that the kubelet ended without a request.
 * Fake kubelets end pods by name, sometimes twice, which can end a StatefulSet's next pod early.
 */
export function podsMade(sightings: readonly Sighting[], after: number) {
  const known = new Set<string>();
  const fresh = new Set<string>();
  const leaving = new Set<string>();
  const counts = new Map<string, { readonly made: number; readonly lost: number }>();
  for (const { workload, revision, seen } of inOrder(sightings)) {
    if (seen.what !== 'pod') continue;
    const { made, lost } = counts.get(workload) ?? { made: 0, lost: 0 };
    const isNew = revision > after && !known.has(seen.uid);
    known.add(seen.uid);
    if (isNew) fresh.add(seen.uid);
    if (seen.leaving) leaving.add(seen.uid);
    const isLost = seen.gone && fresh.has(seen.uid) && !leaving.has(seen.uid);
    counts.set(workload, { made: made + (isNew ? 1 : 0), lost: lost + (isLost ? 1 : 0) });
  }
  return counts;
}

/** Returns the minimum number of ready pods of some workloads at any instant. */
export function fewestReady(sightings: readonly Sighting[], after: number, workloads: readonly string[]): number {
  const standings = new Standings();
  let fewest = Infinity;
  for (const sighting of inOrder(sightings)) {
    standings.take(sighting);
    if (sighting.revision <= after || !workloads.includes(sighting.workload)) continue;
    const pods = workloads.flatMap((workload) => [...(standings.all.get(workload)?.pods.values() ?? [])]);
    fewest = Math.min(fewest, pods.filter(({ ready }) => ready).length);
  }
  return fewest;
}

const none: Peak = { count: 0, which: [] };

function larger(peak: Peak, found: readonly (readonly [string, unknown])[]): Peak {
  if (peak.count >= found.length) return peak;
  return { count: found.length, which: found.map(([workload]) => workload) };
}

function inOrder(sightings: readonly Sighting[]): Sighting[] {
  return [...sightings].sort((one, other) => one.revision - other.revision);
}
