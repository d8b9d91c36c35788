import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { CanaryStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import { rolloutStatusSchema, type RolloutRevision, type RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { ObservedPod, RolloutObservation } from '../observation.ts';
import { advanceRollout, type RolloutPass } from '../rollout.ts';
import { getsCanary, rankOf } from '../../routing/workload-key.ts';
import { ref, second, start, strategyOf } from './situation.ts';

interface WorldPod extends ObservedPod {
  /** The configuration that injected the pod. */
  readonly configuration: RolloutRevision;
}

/** A simulated change in the cluster. */
export type Happening =
  | { readonly kind: 'pass' | 'lostPass' | 'takeOver' | 'create' | 'resume' | 'abort' | 'retry' | 'promote' }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'remove' | 'down' | 'restart' | 'fail' | 'heal'; readonly which: number }
  | { readonly kind: 'revision'; readonly revision: string }
  | { readonly kind: 'configuration'; readonly revision: string }
  | { readonly kind: 'steps'; readonly steps: readonly object[] }
  | { readonly kind: 'known'; readonly isKnown: boolean }
  | { readonly kind: 'compare'; readonly failed: boolean };

/** How long a workload without pods still counts, and how long a new leader waits, in ms. */
const lingerMs = 60 * second;

/** Simulates a tag, its workloads and its controller, and checks the invariants of every pass. */
export class World {
  now = start;
  state: RolloutState | undefined;
  last: RolloutPass | undefined;
  readonly #analysis: object;
  #strategy: CanaryStrategy;
  #revision = '1-24';
  #generation = 1;
  #action: string | undefined;
  #nonce = 0;
  #created = 0;
  #isKnown = true;
  #shadow = { compared: 0, failed: 0, differing: 0, changed: [] as string[] };
  /** When the current leader started. The first leader started long ago. */
  #leaderSince = -Infinity;
  readonly #downSince = new Map<string, number>();
  /** Whether the state has the right number of workloads for the current leader. */
  #isCountTrue = true;
  #cameSincePass = false;
  /** The number of shares that a new leader measured exactly in its first minute. */
  provenAfterTakeOver = 0;
  readonly #configurations = new Map([...['1-24', '1-25', '1-26']].map((revision) => [revision, ref(revision)]));
  readonly #workloads = new Map<string, WorldPod[]>();

  constructor(workloads: number, steps: readonly object[], analysis: object = {}) {
    this.#analysis = analysis;
    this.#strategy = strategyOf(steps, analysis);
    this.pass();
    for (let count = 0; count < workloads; count += 1) this.happen({ kind: 'create' });
  }

  happen(happening: Happening): void {
    switch (happening.kind) {
      case 'pass':
        this.pass();
        break;
      case 'lostPass':
        this.#advance();
        break;
      case 'create':
        this.#created += 1;
        this.#comes();
        this.#make(rankOf('prod', { namespace: 'shop', kind: 'Deployment', name: `w${this.#created}` }));
        break;
      case 'remove':
        this.#forget(this.#pick(happening.which));
        break;
      case 'down': {
        // A restart: all pods are gone until a later `restart`.
        const rank = this.#pick(happening.which);
        if ((this.#workloads.get(rank)?.length ?? 0) > 0) {
          this.#workloads.set(rank, []);
          this.#downSince.set(rank, this.now);
        }
        break;
      }
      case 'takeOver':
        this.#isCountTrue = !this.#cameSincePass && (this.#isCountTrue || !this.#isNewLeader);
        this.#leaderSince = this.now;
        break;
      case 'restart': {
        const rank = this.#pick(happening.which);
        if (!this.#isSeen(rank)) this.#comes();
        this.#make(rank);
        break;
      }
      case 'fail':
      case 'heal':
        this.#setReady(this.#pick(happening.which), happening.kind === 'heal');
        break;
      case 'wait':
        this.now += happening.seconds * second;
        break;
      case 'deadline':
        this.now = Math.max(this.now, this.last?.at?.getTime() ?? 0);
        this.pass();
        break;
      case 'revision':
        if (happening.revision !== this.#revision) this.#generation += 1;
        this.#revision = happening.revision;
        break;
      case 'configuration':
        this.#configurations.set(happening.revision, ref(happening.revision, String(this.now % 1e8).padStart(8, '0')));
        break;
      case 'steps':
        this.#strategy = strategyOf(happening.steps, this.#analysis);
        this.#generation += 1;
        break;
      case 'known':
        this.#isKnown = happening.isKnown;
        break;
      case 'compare':
        this.#shadow.compared += 1;
        this.#shadow.failed += happening.failed ? 1 : 0;
        break;
      default:
        this.#nonce += 1;
        this.#action = `${happening.kind}:${this.#nonce}`;
    }
  }

  pass(): void {
    const before = this.state;
    const pass = this.#advance();
    if (before !== undefined && pass.state !== undefined) this.#judge(before, pass.state);
    if (pass.at !== undefined && pass.at.getTime() <= this.now) {
      assert.ok(!isDeepStrictEqual(before, pass.state), 'the pass is due immediately, but changed nothing');
    }
    this.state = pass.state && rolloutStatusSchema.parse(JSON.parse(JSON.stringify(pass.state)));
    this.last = pass;
    this.#cameSincePass = false;
  }

  /** Checks that a rollout completes if pods are healthy and recreated, and pauses are resumed. */
  settle(): void {
    this.#isKnown = true;
    this.#action = undefined;
    for (let round = 0; round < 200; round += 1) {
      if (this.state?.canary === undefined && round > 2) return;
      for (const [rank, pods] of this.#workloads) {
        if (pods.length === 0 || !pods.every((pod) => pod.ready && isDeepStrictEqual(pod.configuration, this.#configurationOf(rank)))) this.#make(rank);
      }
      this.#shadow.compared += 1;
      this.now += second;
      this.pass();
      if (this.state?.reason === 'UntilResumed') this.happen({ kind: 'resume' });
      this.now = Math.max(this.now, this.last?.at?.getTime() ?? 0);
      if (this.#workloads.size === 0) this.happen({ kind: 'create' });
    }
    assert.fail(`the rollout does not end: ${JSON.stringify(this.state)}`);
  }

  /** Records that there is a new workload, which the state does not count yet. */
  #comes(): void {
    this.#cameSincePass = true;
    if (this.#isNewLeader) this.#isCountTrue = false;
  }

  get #isNewLeader(): boolean {
    return this.now < this.#leaderSince + lingerMs;
  }

  #advance(): RolloutPass {
    for (const [rank, since] of this.#downSince) if (this.now - since >= lingerMs) this.#forget(rank);
    const situation = { state: this.state, strategy: this.#strategy, observed: this.#observe(), now: new Date(this.now) };
    const pass = advanceRollout(situation);
    assert.deepEqual(advanceRollout(structuredClone(situation)), pass, 'not deterministic');
    return pass;
  }

  /** Checks the invariants against the simulated workloads, not against the messages. */
  #judge(before: RolloutState, after: RolloutState): void {
    const ranks = [...this.#workloads.keys()];
    const taken = (state: RolloutState): string[] => ranks.filter((rank) => getsCanary(rank, state.threshold));
    const isSame = before.canary !== undefined && after.canary !== undefined && before.startedAt === after.startedAt && before.canary.hash === after.canary.hash && before.canary.revision === after.canary.revision;
    // A new leader counts only the workloads that it sees, unless the state has the right number.
    const isNewLeader = this.#isNewLeader;
    const isProven = !isNewLeader || this.#isCountTrue;
    const counted = isProven ? ranks : ranks.filter((rank) => this.#isSeen(rank));
    const among = (state: RolloutState): number => taken(state).filter((rank) => counted.includes(rank)).length;
    // An edited step keeps its index, and may keep its start time.
    const isOtherStep = after.step !== before.step || after.weight !== before.weight || after.stepStartedAt !== before.stepStartedAt;
    if (isSame) {
      assert.ok(after.threshold >= before.threshold, 'a workload went back to stable');
      assert.ok(after.weight >= before.weight, 'the weight shrinks');
      assert.deepEqual(before.stable.revision, after.stable.revision);
      // A share whose visible workloads are all gone is measured again.
      if (!isOtherStep && among(before) > 0) assert.equal(after.threshold, before.threshold, 'the threshold changed within a step');
    }
    const begins = after.canary !== undefined && isOtherStep;
    if (begins && !after.shadow) {
      const share = Math.ceil((counted.length * after.weight) / 100);
      assert.equal(among(after), Math.max(share, isSame ? among(before) : 0), 'the share is not exact');
      if (isNewLeader && after.weight < 100) {
        assert.ok(counted.length >= before.knownWorkloads, 'the share was measured with missing workloads');
        if (isProven) this.provenAfterTakeOver += 1;
      }
    }
    if (after.shadow || after.canary === undefined) {
      if (after.phase !== 'Promoted') assert.equal(taken(after).length, 0);
    }
    const wasAsked = (verb: string): boolean => after.action?.verb === verb && after.action.state === 'Done' && after.action.nonce !== before.action?.nonce;
    if (after.phase === 'Promoted' && before.phase !== 'Promoted') {
      assert.deepEqual(after.stable, before.canary);
      if (!wasAsked('promote')) {
        assert.equal(before.step, this.#strategy.steps.length - 1, 'a step was skipped');
        this.#hasEvidence(before);
      }
    } else if (isSame && after.step !== before.step && this.#strategy.steps[before.step ?? -1]?.weight === before.weight) {
      assert.equal(after.step, (before.step ?? -1) + 1, 'a step was skipped');
      this.#hasEvidence(before);
    }
    if (before.phase === 'RolledBack' && after.phase !== 'RolledBack' && before.generation === this.#generation) {
      assert.ok(wasAsked('retry'), 'the rollout left RolledBack without retry');
    }
    const failsNow = (pod: WorldPod): boolean => !pod.ready && pod.createdAt >= Date.parse(before.startedAt ?? '');
    if (after.reason === 'PodsFailing' && before.canary !== undefined) assert.ok(this.#podsOf(before.canary).some(failsNow), 'rolled back by pods of an earlier attempt');
    if (after.stable.revision !== before.stable.revision) assert.equal(after.phase, 'Promoted', 'stable moved without promotion');
  }

  #hasEvidence(state: RolloutState): void {
    const { minimumPods, minReadySeconds } = this.#strategy.analysis;
    if (state.shadow) {
      assert.ok(this.#shadow.compared >= minimumPods);
      return;
    }
    const share = [...this.#workloads].filter(([rank]) => getsCanary(rank, state.threshold)).flatMap(([, pods]) => pods);
    const ready = this.#podsOf(state.canary).filter(
      (pod) => pod.ready && share.includes(pod) && this.now - Math.max(pod.since, Date.parse(state.stepStartedAt ?? '')) >= minReadySeconds * second,
    );
    assert.ok(ready.length >= Math.max(1, Math.min(minimumPods, share.length || minimumPods)), 'the step ended without evidence');
  }

  #observe(): RolloutObservation {
    const desired = this.#configurations.get(this.#revision);
    const stable = this.#configurations.get(this.state?.stable.revision ?? '');
    return {
      revision: this.#revision,
      generation: this.#generation,
      ...(this.#isKnown && desired ? { desired } : {}),
      ...(this.#isKnown && stable ? { stable } : {}),
      workloads: [...this.#workloads]
        .filter(([rank]) => this.#isSeen(rank))
        .map(([rank, pods]) => ({ rank, namespace: 'shop', pods: pods.length })),
      incompleteUntil: this.#leaderSince + lingerMs,
      pods: { stable: this.#podsOf(this.state?.stable), canary: this.#podsOf(this.state?.canary) },
      injectionErrors: 0,
      shadow: { ...this.#shadow },
      ...(this.#action === undefined ? {} : { action: this.#action }),
    };
  }

  /** Reports whether the leader sees a workload, that is, a pod of it since the leader started. */
  #isSeen(rank: string): boolean {
    return (this.#workloads.get(rank)?.length ?? 0) > 0 || (this.#downSince.get(rank) ?? 0) >= this.#leaderSince;
  }

  #podsOf(of: RolloutRevision | undefined): WorldPod[] {
    return [...this.#workloads.values()].flat().filter((pod) => isDeepStrictEqual(pod.configuration, of));
  }

  #pick(which: number): string {
    const ranks = [...this.#workloads.keys()];
    return ranks[which % Math.max(ranks.length, 1)] ?? '';
  }

  /** Recreates a workload's pods with the configuration that the path gives to the workload. */
  #make(rank: string): void {
    const chosen = this.#configurationOf(rank);
    if (rank === '' || chosen === undefined) return;
    const pod = { name: rank, rank, ready: true, since: this.now, createdAt: this.now, restarts: 0, crashing: false, configuration: chosen };
    this.#workloads.set(rank, [pod, { ...pod }]);
    this.#downSince.delete(rank);
  }

  #forget(rank: string): void {
    this.#workloads.delete(rank);
    this.#downSince.delete(rank);
  }

  /** The configuration that the webhook's path gives to a workload. */
  #configurationOf(rank: string): RolloutRevision | undefined {
    const { state } = this;
    return state?.canary !== undefined && getsCanary(rank, state.threshold) ? state.canary : state?.stable;
  }

  #setReady(rank: string, ready: boolean): void {
    const pods = this.#workloads.get(rank);
    if (pods === undefined) return;
    this.#workloads.set(rank, pods.map((pod) => (pod.ready === ready ? pod : { ...pod, ready, since: this.now })));
  }
}
