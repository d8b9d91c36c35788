import { type AdmissionDecision, type AdmissionRequest, nameForPeople } from '../admission/admission-decision.ts';

/** Pods that one configuration could not inject, by its own fault. Texts are bounded. */
export interface FailedInjection {
  readonly injectorConfig: string;
  readonly hash: string;
  readonly count: number;
  /** Milliseconds since 1970: the first and the last of them. */
  readonly first: number;
  readonly last: number;
  /** Of the last one. */
  readonly reason: string;
  readonly message: string;
  /** `namespace/name` of the last one; a pod that is yet to be named ends with `-`. */
  readonly pod: string;
}

/** Who fails no more for so long is forgotten. Milliseconds. */
const keptFor = 5 * 60_000;
/** Configurations; an author of pods cannot add any. */
const mostKept = 16;
const longestMessage = 400;
const longestPod = 320;

/**
 * The failures of the last minutes, for the Lease of a replica. What an author has done wrong is none (status 422 and 400), and neither is a dry run.
 */
export class FailedInjections {
  readonly #now: () => number;
  /** By configuration, the one that failed last at the end. */
  readonly #failed = new Map<string, FailedInjection>();
  readonly #onNew: () => void;

  /** @param onNew is told when a configuration fails that did not before */
  constructor(now: () => number, onNew: () => void) {
    this.#now = now;
    this.#onNew = onNew;
  }

  note(request: AdmissionRequest, { outcome, reason, status, injector }: AdmissionDecision): void {
    if (outcome !== 'failed' || status?.code !== 500 || injector === undefined || request.dryRun) return;
    const now = this.#now();
    const key = `${injector.name}.${injector.hash}`;
    const before = this.#failed.get(key);
    this.#failed.delete(key);
    this.#failed.set(key, {
      injectorConfig: injector.name,
      hash: injector.hash,
      count: (before?.count ?? 0) + 1,
      first: before?.first ?? now,
      last: now,
      reason,
      message: status.message.slice(0, longestMessage),
      pod: `${request.namespace}/${nameForPeople(request)}`.slice(0, longestPod),
    });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > mostKept && oldest !== undefined) this.#failed.delete(oldest);
    if (before === undefined) this.#onNew();
  }

  list(): readonly FailedInjection[] {
    const since = this.#now() - keptFor;
    for (const [key, { last }] of this.#failed) if (last < since) this.#failed.delete(key);
    return [...this.#failed.values()];
  }
}
