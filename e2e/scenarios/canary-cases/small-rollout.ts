import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import { rankOf } from '../../../src/routing/workload-key.ts';
import { applyObject } from '../../harness/apply.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import { applyTagUntilReady, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { untilActive } from '../../harness/until-active.ts';
import { found } from '../../harness/wait-for.ts';
import { ask, pathOf, waitForRollout, Workloads, type Churn } from '../canary/workloads.ts';

/** The timeout for a phase of a rollout, in milliseconds. All cases share two cores. */
const patience = 120_000;

/** The default revisions. */
const pair = { stable: 'v1', canary: 'v2' };

/** A tag of one case, and the workloads that follow it. */
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
    // Let each pod live long enough to count in its step.
    const { churn = { pods: 1, roundMs: Math.max(600, 3000 / count), restMs: 5000 } } = options;
    const workloads = await Workloads.open(context, audit, tag, count, { churn, opensReady: isHealthy });
    return new SmallRollout(context, tag, workloads);
  }

  /** Edits the tag as a user does. Steps wait for `resume`; `last` is the last step's pause. */
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
    return waitForRollout(this.#context, this.tag, 'written', () => true);
  }

  /** Waits for a rollout state. Edits the tag, because new pod counts alone trigger no pass. */
  async seen(what: string, isSo: (state: RolloutState) => boolean): Promise<void> {
    await this.holds(what, async () => {
      const annotations = { 'e2e.sidecar-injector.io/looked': String(Date.now()) };
      await this.#context.client.patch(revisionTag(this.tag, ''), 'merge', { metadata: { annotations } });
      const state = await this.state();
      if (!isSo(state)) throw new Error(`its state is ${JSON.stringify(state)}`);
      return true;
    });
  }

  /** Waits for a rollout state. Recreates pods of `names` (default all) while it waits for pods. */
  async reach(what: string, isThere: (state: RolloutState) => boolean, names = this.workloads.names) {
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
          void this.workloads.renew(names).catch(() => undefined);
        }
        return false;
      },
      patience,
      250,
    );
  }

  /** Waits for the promotion, and checks that all workloads then have only canary pods. */
  async promotes(statement: string, canary = 'v2'): Promise<void> {
    await this.reach('promoted', ({ phase }) => phase === 'Promoted');
    await this.checkAll(statement, canary);
  }

  async noneFlippedBack(statement = 'no workload went back to stable', canary = 'v2'): Promise<void> {
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
    // The operator records the decision before it updates the webhook.
    await this.holds(
      'the path of the webhook no longer names the canary',
      async () => !(await this.path()).includes(`/${canary}/`),
    );
  }

  /** Recreates all pods once the API server uses the current webhook. */
  async renewed(): Promise<Map<string, Set<string>>> {
    await untilActive(this.#context.client);
    return this.workloads.renew();
  }

  /** Returns Deployments in the order in which the tag assigns the canary. */
  ranked(names: readonly string[] = this.workloads.names): string[] {
    const { namespace } = this.workloads;
    const rank = (name: string): string => rankOf(this.tag, { namespace, kind: 'Deployment', name });
    return [...names].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  }

  /** Returns an unused Deployment name whose rank is before or after that of another Deployment. */
  nameBeside(name: string, side: 'before' | 'after'): string {
    const candidates = Array.from({ length: 1000 }, (_, index) => `late-${index}`);
    const isThere = (each: string) => this.ranked([name, each]).indexOf(each) === (side === 'before' ? 0 : 1);
    const chosen = candidates.find(isThere);
    if (chosen === undefined) throw new Error(`none of a thousand names has a rank ${side} ${name}`);
    return chosen;
  }

  /** Returns the Deployments of a step's share, by rank. The number is rounded up. */
  share(percent: number, known: readonly string[] = this.workloads.names): Set<string> {
    return new Set(this.ranked(known).slice(0, Math.ceil((known.length * percent) / 100)));
  }

  async check(statement: string, makers: Makers, share: ReadonlySet<string>, of = pair): Promise<void> {
    await this.holds(statement, () => found(verdict(makers, share, of), ''));
  }

  async holds(statement: string, probe: () => boolean | Promise<boolean>): Promise<void> {
    await this.#context.check(`${this.tag}: ${statement}`, probe);
  }

  /** Recreates all pods, and checks that one InjectorConfig injected them. */
  async checkAll(statement: string, name: string): Promise<void> {
    await this.check(statement, await this.renewed(), new Set(), { stable: name, canary: 'none' });
  }
}

interface CaseOptions {
  readonly tag: string;
  readonly count: number;
  /** The initial revision of the tag. Default: v1. */
  readonly revision?: string;
  readonly isHealthy?: boolean;
  readonly churn?: Churn | undefined;
}

/** The InjectorConfigs that injected the pods of each Deployment. */
type Makers = ReadonlyMap<string, ReadonlySet<string>>;

/** Describes wrong pods. Deployments of the share must have canary pods, all others stable pods. */
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
