import { type AdmissionDecision, type AdmissionRequest, displayName } from '../admission/admission-decision.ts';

/** The recent failures of one configuration, with truncated texts. */
export interface FailedInjection {
  readonly injectorConfig: string;
  readonly hash: string;
  readonly count: number;
  /** The time of the first failure, in milliseconds since 1970. */
  readonly first: number;
  readonly last: number;
  /** The reason of the last failure. */
  readonly reason: string;
  readonly message: string;
  /** `namespace/name` of the last pod; a generateName ends with `-`. */
  readonly pod: string;
}

/** How long a configuration is listed after its last failure, in milliseconds. */
const keptFor = 5 * 60_000;
/** The maximum number of listed configurations. Pod authors cannot add configurations. */
const mostKept = 16;
const longestMessage = 400;
const longestPod = 320;

/** The recent failures, for a replica's Lease. Omits authors' mistakes (400, 422) and dry runs. */
export class FailedInjections {
  readonly #now: () => number;
  /** The failures by configuration, in order of the last failure. */
  readonly #failed = new Map<string, FailedInjection>();
  readonly #onNew: () => void;

  /** @param onNew called when a configuration that is not listed fails */
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
      pod: `${request.namespace}/${displayName(request)}`.slice(0, longestPod),
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
