import { setTimeout as sleep } from 'node:timers/promises';
import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import { rankOf } from '../../../src/routing/workload-key.ts';
import { applyObject } from '../../harness/apply.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import { applyTagUntilReady, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found } from '../../harness/wait-for.ts';
import { ask, pathOf, waitForRollout, Workloads } from '../canary/workloads.ts';

/** Milliseconds for a webhook that was just written to be what the API server asks. */
const propagationMs = 700;
/** Milliseconds for a rollout to get somewhere: all cases share two cores, with other scenarios. */
const patience = 120_000;

/** Who is stable, and who the canary. */
const pair = { stable: 'v1', canary: 'v2' };

/** A tag of a case's own, and the workloads that follow it. */
export class SmallRollout {
  readonly tag: string;
  readonly workloads: Workloads;
  readonly #context: ScenarioContext;

  private constructor(context: ScenarioContext, tag: string, workloads: Workloads) {
    this.#context = context;
    this.tag = tag;
    this.workloads = workloads;
  }

  static async open(context: ScenarioContext, audit: AuditLog, options: CaseOptions): Promise<SmallRollout> {
    const { tag, count, revision = 'v1', isHealthy = true } = options;
    await applyTagUntilReady(context.client, revisionTag(tag, revision));
    // Each pod lives long enough to be evidence.
    const churn = { pods: 1, roundMs: Math.max(600, 3000 / count), restMs: 5000 };
    const workloads = await Workloads.open(context, audit, tag, count, { churn, opensReady: isHealthy });
    return new SmallRollout(context, tag, workloads);
  }

  /**
   * Edits the tag as a person does. Steps of these weights wait to be resumed.
   * @param last the pause of a step of 100; none unless told
   */
  async edit(revision: string, weights: readonly number[], last?: 'UntilResumed'): Promise<void> {
    const steps = weights.map((weight) => {
      const pause = weight < 100 ? 'UntilResumed' : last;
      return { weight, ...(pause === undefined ? {} : { pause }) };
    });
    const strategy = { canary: { steps, analysis: { minReadySeconds: 1 } } };
    await applyObject(this.#context.client, revisionTag(this.tag, revision, { strategy }));
  }

  async ask(verb: Parameters<typeof ask>[2], nonce: string): Promise<void> {
    await ask(this.#context, this.tag, verb, nonce);
  }

  async path(): Promise<string> {
    return pathOf(this.#context, this.tag);
  }

  async state(): Promise<RolloutState> {
    return waitForRollout(this.#context, this.tag, 'there', () => true);
  }

  /** Waits until the operator has seen something; it is made to look, since the figures of a tag at rest are no news. */
  async seen(what: string, isSo: (state: RolloutState) => boolean): Promise<void> {
    await this.holds(what, async () => {
      const annotations = { 'e2e.sidecar-injector.io/looked': String(Date.now()) };
      await this.#context.client.patch(revisionTag(this.tag, ''), 'merge', { metadata: { annotations } });
      const state = await this.state();
      if (!isSo(state)) throw new Error(`it says ${JSON.stringify(state)}`);
      return true;
    });
  }

  /** Waits until the rollout is so far, with pods made again on the way, without which it goes nowhere. */
  async reach(what: string, isThere: (state: RolloutState) => boolean): Promise<RolloutState> {
    let isRenewed = false;
    return waitForRollout(
      this.#context,
      this.tag,
      what,
      (state) => {
        if (isThere(state)) return true;
        if (state.phase !== 'WaitingForPods') isRenewed = false;
        else if (!isRenewed) {
          isRenewed = true;
          void this.workloads.renew().catch(() => undefined);
        }
        return false;
      },
      patience,
    );
  }

  /** Waits until it has been promoted, and checks that everybody has pods of the canary alone by then. */
  async promotes(statement: string, canary = 'v2'): Promise<void> {
    await this.reach('promoted', ({ phase }) => phase === 'Promoted');
    await this.checkAll(statement, canary);
  }

  async noneFlippedBack(statement = 'nobody flipped back', canary = 'v2'): Promise<void> {
    await this.holds(statement, () => found(this.workloads.pods.flippedBack(canary, 'v1').join(), ''));
  }

  async pausedAt(weight: number, canary: string): Promise<Map<string, Set<string>>> {
    await this.reach(`paused at ${weight} percent of ${canary}`, (state) => {
      return state.phase === 'Paused' && state.weight === weight && state.canary?.revision === canary;
    });
    return this.renewed();
  }

  async rollBack(canary: string): Promise<void> {
    await this.edit(canary, [50, 100]);
    await this.pausedAt(50, canary);
    await this.ask('abort', 'now');
    await this.reach('rolled back', ({ phase }) => phase === 'RolledBack');
    // The decision is recorded before the webhook is written by it.
    await this.holds(
      'its webhook leads away from the canary',
      async () => !(await this.path()).includes(`/${canary}/`),
    );
  }

  /** Has all pods made again by what the webhook says by now. */
  async renewed(): Promise<Map<string, Set<string>>> {
    await sleep(propagationMs);
    return this.workloads.renew();
  }

  /** Deployments, in the order in which the tag hands out the canary. */
  ranked(names: readonly string[] = this.workloads.names): string[] {
    const { namespace } = this.workloads;
    const rank = (name: string): string => rankOf(this.tag, { namespace, kind: 'Deployment', name });
    return [...names].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  }

  /** A name that nobody has, of a Deployment that comes in that order before one, or after one. */
  nameBeside(name: string, side: 'before' | 'after'): string {
    const candidates = Array.from({ length: 1000 }, (_, index) => `late-${index}`);
    const isThere = (each: string) => this.ranked([name, each]).indexOf(each) === (side === 'before' ? 0 : 1);
    const chosen = candidates.find(isThere);
    if (chosen === undefined) throw new Error(`no name of a thousand is on that side`);
    return chosen;
  }

  /** The Deployments that are to get the canary when a step begins: exactly the share of those known then, rounded up, the first by rank. */
  share(percent: number, known: readonly string[] = this.workloads.names): Set<string> {
    return new Set(this.ranked(known).slice(0, Math.ceil((known.length * percent) / 100)));
  }

  async check(statement: string, makers: Makers, share: ReadonlySet<string>, of = pair): Promise<void> {
    await this.holds(statement, () => found(verdict(makers, share, of), ''));
  }

  async holds(statement: string, probe: () => boolean | Promise<boolean>): Promise<void> {
    await this.#context.check(`${this.tag}: ${statement}`, probe);
  }

  /** Checks that everybody has pods of one InjectorConfig alone, made by now. */
  async checkAll(statement: string, name: string): Promise<void> {
    await this.check(statement, await this.renewed(), new Set(), { stable: name, canary: 'nobody' });
  }
}

interface CaseOptions {
  readonly tag: string;
  readonly count: number;
  /** Where the tag leads first; v1 unless told. */
  readonly revision?: string;
  readonly isHealthy?: boolean;
}

/** Which InjectorConfigs have made the pods of each Deployment. */
type Makers = ReadonlyMap<string, ReadonlySet<string>>;

/** What is wrong with the pods that are stored: each Deployment of the share has to have pods of the canary alone, each other of stable alone. */
export function verdict(makers: Makers, share: ReadonlySet<string>, { stable, canary } = pair): string {
  return [...makers]
    .flatMap(([name, each]) => {
      const expected = share.has(name) ? canary : stable;
      const got = [...each].sort().join(' and ');
      return got === expected ? [] : [`${name} has ${got} instead of ${expected}`];
    })
    .sort()
    .join(', ');
}
