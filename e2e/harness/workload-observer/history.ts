import type { Sighting } from './sighting.ts';
import { Standings } from './standing.ts';

export interface Window {
  /** The revision after which it begins; how things stood then is taken from before. */
  readonly after: number;
  readonly except?: readonly string[];
}

interface Peak {
  readonly count: number;
  readonly which: readonly string[];
}

/** How many workloads were not whole at any instant: after each version that was stored, in the order in which they were. */
export function disturbances(sightings: readonly Sighting[], { after, except = [] }: Window) {
  const standings = new Standings();
  /** At how many instants it was counted. */
  let instants = 0;
  /** Workloads that were not whole at one instant, in the cluster, and in the namespace that had most. */
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
 * The same, counted at each restart alone: of workloads that were not whole then or had not been for long, the one that is restarted included.
 *
 * @param wholeMs for how long a restarted workload has to be whole before it counts no more. Milliseconds, by the time at which things were seen.
 */
export function slotsTaken(sightings: readonly Sighting[], { after, except = [] }: Window, wholeMs: number): Peak {
  const standings = new Standings();
  let most = none;
  for (const sighting of inOrder(sightings)) {
    const { edited } = standings.take(sighting);
    if (!edited || sighting.revision <= after) continue;
    const taken = [...standings.all].filter(([workload, { whole, since }]) => {
      return !except.includes(workload) && (!whole || sighting.at - since < wholeMs);
    });
    most = larger(most, taken);
  }
  return most;
}

/** How often each workload's spec was changed. */
export function edits(sightings: readonly Sighting[], after: number): Map<string, number> {
  const standings = new Standings();
  const counts = new Map<string, number>();
  for (const sighting of inOrder(sightings)) {
    const { edited } = standings.take(sighting);
    const { workload, revision } = sighting;
    if (edited && revision > after) counts.set(workload, (counts.get(workload) ?? 0) + 1);
  }
  return counts;
}

/**
 * How many pods were made for each workload, and how many of them were lost: gone without anybody having asked for it but their kubelet. The fake kubelets end
 * pods by name, and sometimes twice: the next pod of a StatefulSet has the name of the one before, and may be gone before it has begun.
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

/** The fewest pods that some workloads together had ready at any instant. */
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
