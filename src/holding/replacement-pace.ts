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

/** The replacements in one namespace. */
interface NamespacePace {
  /** The maximum number of replacements whose new pod was not seen yet. */
  window: number;
  /** The number of failures in a row with window 1. */
  failures: number;
  /** When a replacement last began or failed. */
  since: number;
  /** The workloads of the replacements whose new pod was not seen yet, the oldest first. */
  readonly inFlight: { readonly uid: string; readonly at: number }[];
  /** The workloads that failed, by uid. A pod can name the uid of one in another namespace. */
  readonly failing: Map<string, { readonly failures: number; due: number }>;
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
  /** The namespaces with held pods or replacements, by name. */
  readonly #namespaces = new Map<string, NamespacePace>();

  /** Reports whether a pod of the workload may be replaced now. @param now in milliseconds */
  allows({ uid, namespace }: HeldOwner, now: number): boolean {
    const { window, failures, since, inFlight, failing } = this.#paceOf(namespace);
    const isProven = this.#isProven(now);
    const pause = failures > 0 ? grown(pauseMs, failures) : isProven ? 0 : probeMs;
    if (now - (isProven ? since : Math.max(since, this.#begunAt)) < pause) return false;
    const known = failing.get(uid);
    if (known !== undefined && (now < known.due || inFlight.some((each) => each.uid === uid))) return false;
    const own = inFlight.length;
    if (own >= window) return false;
    const counts = [...this.#namespaces.values()].map((each) => each.inFlight.length).filter((count) => count > 0);
    // The places of one more namespace stay free, so that none waits for places of others.
    const share = Math.floor(mostInFlight / (counts.length + (own === 0 ? 2 : 1)));
    return own < Math.max(1, share) && counts.reduce((sum, count) => sum + count, 0) < mostInFlight;
  }

  /** Notes that a pod of the workload is being replaced. */
  begin({ uid, namespace }: HeldOwner, now: number): void {
    const pace = this.#paceOf(namespace);
    pace.inFlight.push({ uid, at: now });
    pace.since = this.#begunAt = now;
  }

  /** Takes back a {@link begin}, because the pod could not be replaced. */
  cancel({ uid, namespace }: HeldOwner): void {
    const { inFlight } = this.#paceOf(namespace);
    const index = inFlight.findLastIndex((each) => each.uid === uid);
    if (index !== -1) inFlight.splice(index, 1);
  }

  /** Notes a new pod of a workload. Returns whether it replaces a pod; ignores other pods. */
  created({ uid, namespace }: HeldOwner, isHeld: boolean, now: number): boolean {
    const pace = this.#namespaces.get(namespace);
    if (pace === undefined) return false;
    if (!isHeld) pace.failing.delete(uid);
    const index = pace.inFlight.findIndex((each) => each.uid === uid);
    if (index === -1) return false;
    pace.inFlight.splice(index, 1);
    if (isHeld) failed(pace, uid, now);
    else this.#succeeded(pace, now);
    return true;
  }

  /** Forgets replacements that led to no new pod; their workloads are tried less often. */
  expire(now: number): void {
    for (const { inFlight, failing } of this.#namespaces.values()) {
      const late = inFlight.filter(({ at }) => now - at > expiryMs);
      inFlight.splice(0, late.length);
      for (const uid of new Set(late.map((each) => each.uid))) postpone(failing, uid, now);
    }
  }

  /** Reports whether another namespace may soon be tried, so that the next pass is due early. */
  isProbing(now: number): boolean {
    return now - this.#begunAt < 4 * probeMs;
  }

  /** Returns the number of failures in a row of a workload. Workloads with fewer go first. */
  failuresOf({ uid, namespace }: HeldOwner): number {
    return this.#namespaces.get(namespace)?.failing.get(uid)?.failures ?? 0;
  }

  /** Forgets the failures of workloads and namespaces without held pods. */
  keepOnly(held: readonly HeldOwner[]): void {
    const uids = new Map<string, Set<string>>(held.map(({ namespace }) => [namespace, new Set()]));
    for (const { uid, namespace } of held) uids.get(namespace)?.add(uid);
    for (const [namespace, { inFlight, failing }] of this.#namespaces) {
      const isKept = (uid: string): boolean =>
        uids.get(namespace)?.has(uid) === true || inFlight.some((each) => each.uid === uid);
      for (const uid of failing.keys()) if (!isKept(uid)) failing.delete(uid);
      if (!uids.has(namespace) && inFlight.length === 0) this.#namespaces.delete(namespace);
    }
  }

  #paceOf(namespace: string): NamespacePace {
    const known = this.#namespaces.get(namespace);
    const pace = known ?? { window: 1, failures: 0, since: -Infinity, inFlight: [], failing: new Map() };
    if (known === undefined) this.#namespaces.set(namespace, pace);
    return pace;
  }

  #isProven(now: number): boolean {
    return now - this.#workedAt <= provenMs;
  }

  #succeeded(pace: NamespacePace, now: number): void {
    if (!this.#isProven(now)) {
      // The failures until now were perhaps those of the webhook, so all pauses end.
      for (const each of this.#namespaces.values()) {
        each.failures = 0;
        for (const workload of each.failing.values()) workload.due = now;
      }
    }
    pace.window = Math.min(mostInFlight / 2, pace.window + 1);
    pace.failures = 0;
    this.#workedAt = now;
  }
}

function failed(pace: NamespacePace, uid: string, now: number): void {
  postpone(pace.failing, uid, now);
  if (pace.window === 1) pace.failures += 1;
  pace.window = Math.max(1, Math.floor(pace.window / 2));
  pace.since = now;
}

function postpone(failing: NamespacePace['failing'], uid: string, now: number): void {
  const failures = (failing.get(uid)?.failures ?? 0) + 1;
  failing.set(uid, { failures, due: now + grown(ownerPauseMs, failures) });
}

/** Returns a pause that doubles with each failure. */
function grown(bounds: { readonly least: number; readonly most: number }, failures: number): number {
  return Math.min(bounds.most, bounds.least * 2 ** (failures - 1));
}
