import { replacingAnnotation } from '../api/names.ts';
import { jobLabels } from '../manifests/replaceable-pods.ts';
import { FairShares } from '../rollout/fair-shares.ts';
import { forEach, type Steps } from '../steps/steps.ts';
import {
  type GatedPod,
  type GateState,
  type HeldAction,
  isOurGate,
  judgeHeldPod,
  type PendingPod,
} from './pending-pod.ts';
import { type HeldOwner, ReplacementPace } from './replacement-pace.ts';

/** Returns what is known about the webhook of a gate. */
export type StateOf = (gate: string) => GateState;

/** A write that releases or replaces a held pod. */
export interface HeldWrite {
  readonly pod: GatedPod;
  readonly action: Exclude<HeldAction, 'Stay'>;
  /** The gates to remove, for action `Release`. */
  readonly released: readonly string[];
  /** The attempt that has begun with this write, if its new pod shows whether the webhook works. */
  readonly attempt?: { readonly pace: ReplacementPace; readonly owner: HeldOwner };
}

/** The held pods of an InjectorConfig. */
export interface HeldCount {
  count: number;
  /** The creation time of the oldest pod, in milliseconds since 1970. */
  since: number;
  /** The number of pods that no controller replaces. */
  stuck: number;
  /** Why a pod could not be released or replaced. */
  refusal?: string | undefined;
}

/** How long to leave a pod alone after the API server refused to change it, in milliseconds. */
const refusedMs = 30_000;

/**
 * Decides which held pods are released or replaced next. Namespaces take turns. In each, workloads
 * whose attempts failed come last, and otherwise the oldest pods first.
 */
export class Replacements {
  /** The pace of each gate, and so of each webhook. */
  readonly #paces = new Map<string, ReplacementPace>();
  /** Shares the writes among namespaces. */
  readonly #shares = new FairShares();
  /** The pods whose change the API server refused, by uid. */
  readonly #refused = new Map<string, { readonly until: number; readonly message: string }>();

  /** Notes a new pod, held or not. Returns whether it replaces a held pod. */
  created({ owner, held }: PendingPod, now: number): boolean {
    if (owner === undefined) return false;
    const isHeldBy = (gate: string): boolean => held?.gates.includes(gate) === true;
    return [...this.#paces].filter(([gate, pace]) => pace.created(owner, isHeldBy(gate), now)).length > 0;
  }

  /** Counts the held pods of each InjectorConfig, in steps. @param injectorOf by gate */
  *count(
    held: readonly GatedPod[],
    stateOf: StateOf,
    injectorOf: ReadonlyMap<string, string | undefined>,
  ): Steps<Map<string, HeldCount>> {
    const counts = new Map<string, HeldCount>();
    yield* forEach(held, (pod) => {
      for (const gate of pod.held.gates.filter(isOurGate)) {
        const name = injectorOf.get(gate);
        if (name === undefined) continue;
        const { since, isSeparated } = pod.held;
        const known = counts.get(name) ?? { count: 0, since, stuck: 0 };
        const state = stateOf(gate);
        const isStuck = typeof state !== 'string' && !isSeparated && judgeHeldPod(pod, state) === 'Stay';
        known.count += 1;
        known.stuck += Number(isStuck);
        known.refusal ??= this.#refused.get(pod.metadata.uid ?? '')?.message;
        counts.set(name, known);
      }
    });
    return counts;
  }

  /** Begins a pass over all held pods. Returns them in the order in which to judge them. */
  inOrder(held: readonly GatedPod[], now: number): Iterator<GatedPod> {
    const paces = [...this.#paces.values()];
    const owners = held.flatMap(({ owner }) => owner ?? []);
    for (const pace of paces) {
      pace.expire(now);
      pace.keepOnly(owners);
    }
    for (const [uid, { until }] of this.#refused) if (now >= until) this.#refused.delete(uid);
    const failuresOf = ({ owner }: GatedPod): number =>
      owner === undefined ? 0 : Math.max(0, ...paces.map((pace) => pace.failuresOf(owner)));
    const ranked = held.map((pod) => ({ pod, failures: failuresOf(pod) }));
    ranked.sort((one, other) => one.failures - other.failures || one.pod.held.since - other.pod.held.since);
    return this.#shares.inTurns(
      ranked.map(({ pod }) => pod),
      namespaceOf,
    );
  }

  /** Judges pods in their order, one a step, until one must be written. */
  *next(pods: Iterator<GatedPod>, stateOf: StateOf, now: number): Steps<HeldWrite | undefined> {
    for (let pod = pods.next(); pod.done !== true; pod = pods.next()) {
      const write = this.decide(pod.value, stateOf, now);
      if (write === undefined) yield;
      else {
        this.#shares.serve(namespaceOf(pod.value));
        return write;
      }
    }
    return undefined;
  }

  /** Returns the write of a pod, whose attempt then has begun; undefined if the pod must wait. */
  decide(pod: GatedPod, stateOf: StateOf, now: number): HeldWrite | undefined {
    const { metadata, held, owner } = pod;
    if (this.#refused.has(metadata.uid ?? '')) return undefined;
    const judged = held.gates.filter(isOurGate).map((gate) => ({ gate, action: judgeHeldPod(pod, stateOf(gate)) }));
    const released = judged.filter(({ action }) => action === 'Release').map(({ gate }) => gate);
    if (released.length > 0) return { pod, action: 'Release', released };
    for (const { gate, action } of judged) {
      if (action === 'Stay') continue;
      const state = stateOf(gate);
      if (owner === undefined || typeof state === 'string') return { pod, action, released };
      // Without a replica, every attempt would fail.
      if (!state.isServed) return undefined;
      const pace = this.#paces.get(gate) ?? new ReplacementPace();
      this.#paces.set(gate, pace);
      if (!pace.allows(owner, now)) return undefined;
      // Begin before the write: the watch may deliver the new pod before the answer arrives.
      pace.begin(owner, now);
      return { pod, action, released, attempt: { pace, owner } };
    }
    return undefined;
  }

  /** Leaves a pod alone for a while, because the API server refused a write. */
  refused({ metadata: { uid = '' } }: GatedPod, message: string, now: number): void {
    this.#refused.set(uid, { until: now + refusedMs, message: message.slice(0, 300) });
  }

  /** Reports whether another namespace may soon be tried, so that the next pass is due early. */
  isProbing(now: number): boolean {
    return [...this.#paces.values()].some((pace) => pace.isProbing(now));
  }
}

/** Returns the merge patch of a write. It fails if the pod has changed since it was read. */
export function heldPatch({ pod: { metadata, owner, held }, released }: HeldWrite): object {
  const { uid, resourceVersion } = metadata;
  if (released.length > 0) {
    const schedulingGates = held.gates.filter((each) => !released.includes(each)).map((name) => ({ name }));
    return { metadata: { uid, resourceVersion }, spec: { schedulingGates } };
  }
  // The Job gives the pod up, and the mark lets the next leader go on.
  const labels = Object.fromEntries(jobLabels.map((each) => [each, null]));
  return { metadata: { uid, resourceVersion, labels, annotations: { [replacingAnnotation]: owner?.uid } } };
}

function namespaceOf({ metadata }: GatedPod): string {
  return metadata.namespace ?? '';
}
