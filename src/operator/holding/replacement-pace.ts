/** The workload of a held pod. An author can choose the uid, but not the namespace. */
export interface HeldOwner {
  readonly uid: string;
  readonly namespace: string;
}

/** The maximum number of replacements whose new pod was not seen yet. */
const mostInFlight = 100;
/** How long to wait for the new pod, in ms. None comes if it is refused, or after a scaling. */
const expiryMs = 5000;
/** The bounds of the pause of a namespace after failures in a row, in milliseconds. */
const pauseMs = { least: 500, most: 5000 };
/** The bounds of the pause of one workload whose new pods are held again, in milliseconds. */
const ownerPauseMs = { least: 2000, most: 30_000 };
/** How long a success proves that the webhook works, in milliseconds. */
const provenMs = 5000;
/** The pause before another namespace is tried while nothing proves that the webhook works. */
const probeMs = 250;

interface NamespacePace {
  /** The maximum number of replacements whose new pod was not seen yet. */
  window: number;
  /** The number of failures in a row with window 1. */
  failures: number;
  /** When a replacement last began or failed. */
  since: number;
}

/**
 * Decides how fast the held pods of one webhook are replaced. A replaced pod shows whether the
 * webhook works: the new pod is either injected or held again. Nothing is lost by a failed attempt,
 * since a held pod does not run. In each namespace, a success allows one more replacement at once,
 * and a failure halves this number. After failures in a row, one pod is tried at growing intervals.
 * An author can cause failures: while the webhook works, they count only in their own namespace.
 */
export class ReplacementPace {
  /** When a new pod was last injected, and when a replacement last began. */
  #workedAt = -Infinity;
  #begunAt = -Infinity;
  readonly #namespaces = new Map<string, NamespacePace>();
  /** The times of replacements whose new pod was not seen yet, by {@link keyOf}. */
  readonly #inFlight = new Map<string, HeldOwner & { readonly times: number[] }>();
  readonly #owners = new Map<string, { readonly failures: number; due: number }>();

  /** Reports whether a pod of the workload may be replaced now. @param now in milliseconds */
  allows(owner: HeldOwner, now: number): boolean {
    const { namespace } = owner;
    const { window, failures, since } = this.#paceOf(namespace);
    const isProven = this.#isProven(now);
    const pause = failures > 0 ? grown(pauseMs, failures) : isProven ? 0 : probeMs;
    if (now - (isProven ? since : Math.max(since, this.#begunAt)) < pause) return false;
    const counts = this.#inFlightByNamespace();
    const own = counts.get(namespace) ?? 0;
    // The places of one more namespace stay free, so that none waits for places of others.
    const share = Math.floor(mostInFlight / (counts.size + (own === 0 ? 2 : 1)));
    if (own >= Math.min(window, Math.max(1, share))) return false;
    if ([...counts.values()].reduce((sum, count) => sum + count, 0) >= mostInFlight) return false;
    const known = this.#owners.get(keyOf(owner));
    return known === undefined || (now >= known.due && !this.#inFlight.has(keyOf(owner)));
  }

  /** Notes that a pod of the workload is being replaced. */
  begin(owner: HeldOwner, now: number): void {
    const entry = this.#inFlight.get(keyOf(owner)) ?? { ...owner, times: [] };
    entry.times.push(now);
    this.#inFlight.set(keyOf(owner), entry);
    this.#paceOf(owner.namespace).since = this.#begunAt = now;
  }

  /** Takes back a {@link begin}, because the pod could not be replaced. */
  cancel(owner: HeldOwner): void {
    const entry = this.#inFlight.get(keyOf(owner));
    entry?.times.pop();
    if (entry?.times.length === 0) this.#inFlight.delete(keyOf(owner));
  }

  /** Notes a new pod of a workload. Returns whether it replaces a pod; ignores other pods. */
  created(owner: HeldOwner, isHeld: boolean, now: number): boolean {
    const key = keyOf(owner);
    if (!isHeld) this.#owners.delete(key);
    const entry = this.#inFlight.get(key);
    if (entry === undefined) return false;
    entry.times.shift();
    if (entry.times.length === 0) this.#inFlight.delete(key);
    if (isHeld) this.#failed(owner, now);
    else this.#succeeded(owner, now);
    return true;
  }

  /** Forgets replacements that led to no new pod; their workloads are tried less often. */
  expire(now: number): void {
    for (const [key, entry] of this.#inFlight) {
      const { times } = entry;
      const isLate = times[0] !== undefined && now - times[0] > expiryMs;
      while (times[0] !== undefined && now - times[0] > expiryMs) times.shift();
      if (times.length === 0) this.#inFlight.delete(key);
      if (isLate) this.#postpone(entry, now);
    }
  }

  /** Reports whether another namespace may soon be tried, so that the next pass is due early. */
  isProbing(now: number): boolean {
    return now - this.#begunAt < 4 * probeMs;
  }

  /** Returns the number of failures in a row of a workload. Workloads with fewer go first. */
  failuresOf(owner: HeldOwner): number {
    return this.#owners.get(keyOf(owner))?.failures ?? 0;
  }

  /** Forgets the failures of workloads and namespaces without held pods. */
  keepOnly(held: Iterable<HeldOwner>): void {
    const kept = [...held, ...this.#inFlight.values()];
    const [keys, namespaces] = [new Set(kept.map(keyOf)), new Set(kept.map(({ namespace }) => namespace))];
    for (const key of this.#owners.keys()) if (!keys.has(key)) this.#owners.delete(key);
    for (const name of this.#namespaces.keys()) if (!namespaces.has(name)) this.#namespaces.delete(name);
  }

  #paceOf(namespace: string): NamespacePace {
    const pace = this.#namespaces.get(namespace) ?? { window: 1, failures: 0, since: -Infinity };
    this.#namespaces.set(namespace, pace);
    return pace;
  }

  #isProven(now: number): boolean {
    return now - this.#workedAt <= provenMs;
  }

  #succeeded({ namespace }: HeldOwner, now: number): void {
    if (!this.#isProven(now)) {
      // The failures until now were perhaps those of the webhook, so all pauses end.
      for (const each of this.#namespaces.values()) each.failures = 0;
      for (const each of this.#owners.values()) each.due = now;
    }
    const pace = this.#paceOf(namespace);
    pace.window = Math.min(mostInFlight / 2, pace.window + 1);
    pace.failures = 0;
    this.#workedAt = now;
  }

  #failed(owner: HeldOwner, now: number): void {
    this.#postpone(owner, now);
    const pace = this.#paceOf(owner.namespace);
    if (pace.window === 1) pace.failures += 1;
    pace.window = Math.max(1, Math.floor(pace.window / 2));
    pace.since = now;
  }

  #postpone(owner: HeldOwner, now: number): void {
    const failures = this.failuresOf(owner) + 1;
    this.#owners.set(keyOf(owner), { failures, due: now + grown(ownerPauseMs, failures) });
  }

  #inFlightByNamespace(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { namespace, times } of this.#inFlight.values())
      counts.set(namespace, (counts.get(namespace) ?? 0) + times.length);
    return counts;
  }
}

/** A pod can name the uid of a workload in another namespace as its controller. */
function keyOf({ uid, namespace }: HeldOwner): string {
  return `${namespace}/${uid}`;
}

/** Returns a pause that doubles with each failure. */
function grown(bounds: { readonly least: number; readonly most: number }, failures: number): number {
  return Math.min(bounds.most, bounds.least * 2 ** (failures - 1));
}
