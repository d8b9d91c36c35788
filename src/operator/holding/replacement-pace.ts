/** The workload of a held pod. */
export interface HeldOwner {
  readonly uid: string;
  readonly namespace: string;
}

/** The maximum number of replacements whose new pod was not seen yet: in all, per namespace. */
const most = { inAll: 100, perNamespace: 50 };
/** How long to wait for the new pod, in ms. A workload that was scaled down creates none. */
const expiryMs = 15_000;
/** The bounds of the pause after failures in a row, in milliseconds. */
const pauseMs = { least: 500, most: 5000 };
/** The bounds of the pause of one workload whose new pods are held again, in milliseconds. */
const ownerPauseMs = { least: 2000, most: 30_000 };

/**
 * Decides how fast the held pods of one webhook are replaced. A replaced pod shows whether the
 * webhook works: the new pod is either injected or held again. Nothing is lost by a failed attempt,
 * since a held pod does not run. Each success allows one more replacement at a time, each failure
 * halves this number; after failures in a row only one pod is tried, at growing intervals.
 */
export class ReplacementPace {
  #window = 1;
  #failures = 0;
  #pausedUntil = -Infinity;
  /** The times of replacements whose new pod was not seen yet, by uid of the workload. */
  readonly #inFlight = new Map<string, { readonly namespace: string; readonly times: number[] }>();
  readonly #owners = new Map<string, { readonly failures: number; readonly due: number }>();

  /** Reports whether a pod of the workload may be replaced now. @param now in milliseconds */
  allows({ uid, namespace }: HeldOwner, now: number): boolean {
    if (now < this.#pausedUntil || this.#count(() => true) >= this.#window) return false;
    if (this.#count((each) => each.namespace === namespace) >= most.perNamespace) return false;
    const owner = this.#owners.get(uid);
    return owner === undefined || (now >= owner.due && !this.#inFlight.has(uid));
  }

  /** Notes that a pod of the workload is being replaced. */
  begin({ uid, namespace }: HeldOwner, now: number): void {
    const entry = this.#inFlight.get(uid) ?? { namespace, times: [] };
    entry.times.push(now);
    this.#inFlight.set(uid, entry);
  }

  /** Takes back a {@link begin}, because the pod could not be replaced. */
  cancel({ uid }: HeldOwner): void {
    const entry = this.#inFlight.get(uid);
    entry?.times.pop();
    if (entry?.times.length === 0) this.#inFlight.delete(uid);
  }

  /** Notes a new pod of a workload. Returns whether it replaces a pod; ignores other pods. */
  created(uid: string, isHeld: boolean, now: number): boolean {
    const entry = this.#inFlight.get(uid);
    if (entry === undefined) return false;
    entry.times.shift();
    if (entry.times.length === 0) this.#inFlight.delete(uid);
    if (isHeld) this.#failed(uid, now);
    else this.#succeeded(uid);
    return true;
  }

  /** Forgets replacements that led to no new pod; their workloads are tried less often. */
  expire(now: number): void {
    for (const [uid, { times }] of this.#inFlight) {
      const isLate = times[0] !== undefined && now - times[0] > expiryMs;
      while (times[0] !== undefined && now - times[0] > expiryMs) times.shift();
      if (times.length === 0) this.#inFlight.delete(uid);
      if (isLate) this.#postpone(uid, now);
    }
  }

  /** Returns the number of failures in a row of a workload. Workloads with fewer go first. */
  failuresOf(uid: string): number {
    return this.#owners.get(uid)?.failures ?? 0;
  }

  /** Forgets the failures of workloads without held pods. */
  keepOnly(held: ReadonlySet<string>): void {
    for (const uid of this.#owners.keys()) if (!held.has(uid) && !this.#inFlight.has(uid)) this.#owners.delete(uid);
  }

  #succeeded(uid: string): void {
    this.#window = Math.min(most.inAll, this.#window + 1);
    // The failures before a success were those of the webhook, not of single workloads.
    if (this.#failures > 0) this.#owners.clear();
    this.#owners.delete(uid);
    this.#failures = 0;
    this.#pausedUntil = -Infinity;
  }

  #failed(uid: string, now: number): void {
    this.#postpone(uid, now);
    if (this.#window === 1) {
      this.#failures += 1;
      this.#pausedUntil = now + grown(pauseMs, this.#failures);
    }
    this.#window = Math.max(1, Math.floor(this.#window / 2));
  }

  #postpone(uid: string, now: number): void {
    const failures = this.failuresOf(uid) + 1;
    this.#owners.set(uid, { failures, due: now + grown(ownerPauseMs, failures) });
  }

  #count(isIncluded: (entry: { readonly namespace: string }) => boolean): number {
    let sum = 0;
    for (const entry of this.#inFlight.values()) if (isIncluded(entry)) sum += entry.times.length;
    return sum;
  }
}

/** Returns a pause that doubles with each failure. */
function grown(bounds: { readonly least: number; readonly most: number }, failures: number): number {
  return Math.min(bounds.most, bounds.least * 2 ** (failures - 1));
}
