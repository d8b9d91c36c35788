import assert from 'node:assert/strict';
import { formatRolloutAction, rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { parseRoute } from '../../routing/route.ts';
import { everyWorkload } from '../../routing/workload-key.ts';
import {
  readWrite,
  phaseOf,
  rules,
  statesOf,
  judgeRollout,
  pathWritesOf,
  endOfStep,
} from './testdata/rollout-rules.ts';
import type { RolloutHistory, RolloutWrite, StepSeen } from './testdata/rollout-rules.ts';
import { RolloutFixture, tag } from './testdata/rollout-fixture.ts';

interface PlannedStep {
  readonly weight: number;
  readonly shadow?: true;
  readonly pauseSeconds?: number;
}

interface Plan {
  readonly name: string;
  readonly steps: readonly PlannedStep[];
  /** Whether the operator restarts workloads; otherwise a user recreates all pods in each step. */
  readonly isRestarting?: true;
  readonly end: 'Promoted' | 'Aborted' | 'PodsFailing';
}

const byPerson: Plan = { name: 'by a user', steps: [{ weight: 25 }, { weight: 60 }], end: 'Promoted' };
const byOperator: Plan = { name: 'by the operator', steps: [{ weight: 25 }], isRestarting: true, end: 'Promoted' };
const failing: Plan = { name: 'to a revision whose pods crash', steps: [{ weight: 25 }], end: 'PodsFailing' };
const aborted: Plan = {
  name: 'with a shadow step and a timed pause, aborted',
  steps: [{ weight: 0, shadow: true }, { weight: 25, pauseSeconds: 60 }, { weight: 60 }],
  end: 'Aborted',
};

const second = 1000;
const workloads = 6;
/** More than the number of workloads, so that a step needs new pods from its whole share. */
const minimumPods = 8;
/** How long a process takes to restart, and how long another leader waits for the Lease, in ms. */
const restartMs = { same: second, other: 15 * second };
/** The writes between two kills of one rollout, so that each new leader makes progress. */
const spacing = 1;

/** Reports whether the leader is killed after a write, which the key describes. */
type Fate = (write: RolloutWrite, key: string) => boolean;

/** Rollouts from revision `old` to `new`, with a user, a Deployment controller and kills. */
class KilledRollout extends RolloutFixture {
  kills = 0;
  #plan: Plan = byPerson;
  #isNew = true;
  #since = 0;
  #done = new Set<string>();
  /** For each step, the workloads with canary pods, and how long its pause had no leader, in ms. */
  #canaries: string[][] = [];
  #absentMs: number[] = [];
  /** The workloads whose pods are being replaced. */
  #away: string[] = [];

  async open(): Promise<void> {
    await this.begin(workloads, { restartWorkloads: true });
    this.#isNew = true;
    this.#away = [];
    this.kills = 0;
  }

  /** Rolls out a plan. Kills the leader as decided by `fate`, and if requested late in a pause. */
  async rollOut(plan: Plan, fate?: Fate, isKilledInPause = false): Promise<RolloutHistory> {
    await this.#reset();
    [this.#plan, this.#since, this.#done] = [plan, this.clock.now().getTime(), new Set()];
    [this.#canaries, this.#absentMs] = [[], []];
    if (!isKilledInPause) this.#done.add('killed in the pause');
    const [writes, keyOf] = [this.performed.length, keyReader()];
    this.isFatal = (performed) => {
      const write = readWrite(performed, tag);
      return fate?.(write, keyOf(write)) === true;
    };
    this.setSpec(tag, { revision: 'new', strategy: strategyOf(plan) }, 'revisiontags');
    await this.#untilQuiet(
      () => this.#isOver && this.#got(endOf(plan, this.#since).injectorConfig).length === workloads,
    );
    return this.#history(this.performed.slice(writes).map((write) => readWrite(write, tag)));
  }

  /** Leads the tag back to revision `old`, with new pods and Deployments. */
  async #reset(): Promise<void> {
    this.isFatal = () => false;
    this.#plan = byPerson;
    this.setSpec(tag, { revision: 'old', strategy: undefined }, 'revisiontags');
    await this.#turn(second);
    this.cluster.edit('revisiontags', tag, undefined, ({ metadata }) => delete metadata.annotations);
    for (const name of this.#names) this.cluster.put('deployments', deployment(name));
    this.roll();
    await this.#untilQuiet(() => this.tagPath(tag) === this.restingPath('old'));
  }

  get #names(): string[] {
    return Array.from({ length: workloads }, (_, index) => `work-${index}`);
  }

  /** Runs turns until the condition holds and, for the interval of usage statistics, no writes. */
  async #untilQuiet(isDone: () => boolean): Promise<void> {
    for (let quiet = 0, turn = 0; quiet < 2; turn += 1) {
      assert.ok(turn < 300, `the rollout ${this.#plan.name} did not end: ${JSON.stringify(this.rollout)}`);
      const before = this.performed.length;
      await this.#turn(isDone() ? 16 * second : this.rollout?.reason === 'Pause' ? 5 * second : second);
      quiet = isDone() && this.performed.length === before ? quiet + 1 : 0;
    }
  }

  /** Runs the passes that a leader's loop would run, one after the other. */
  async #turn(length: number): Promise<void> {
    const woken = new Set(this.referenceChanges.splice(0));
    const configs = ['old', 'new'].filter((name) => this.#isNew || woken.has(name));
    this.#isNew = false;
    const ofTag = (): Promise<number> => this.passTagNow(tag);
    const restarts = (): Promise<number> => this.untilKilled(this.reconcilers.restarts.pass(this.signal));
    for (const pass of [...configs.map((name) => () => this.passNow(name)), restarts, ofTag]) {
      await this.watched();
      await pass();
      if (this.signal.aborted) return this.#revive();
    }
    this.#restartPods();
    this.#recreate(this.#away.splice(0));
    this.#act();
    if (this.signal.aborted) return this.#revive();
    await this.clock.advance(length);
  }

  /** Starts a new process, or another one after the Lease expires. Two workloads have no pods. */
  async #revive(): Promise<void> {
    this.kills += 1;
    const later = this.kills % 2 === 0 ? restartMs.same : restartMs.other;
    const { pausedAt, step = 0 } = this.rollout ?? {};
    if (pausedAt !== undefined) this.#absentMs[step] = (this.#absentMs[step] ?? 0) + later;
    await this.clock.advance(later);
    const { isRestarting, end } = this.#plan;
    // Workloads that the operator restarts need no disturbance.
    const isDisturbed = isRestarting !== true && end !== 'PodsFailing' && this.#away.length === 0;
    if (isDisturbed) this.#away = [0, 1].map((index) => `work-${(this.kills + index * 3) % workloads}`);
    for (const name of this.#away) this.down(name);
    await this.takeOver([]);
    await this.watched();
    this.follow();
    this.#isNew = true;
  }

  /** Recreates the pods of restarted Deployments, as their controller does. */
  #restartPods(): void {
    for (const { metadata, status } of this.cluster.list('deployments')) {
      const { name = '', generation = 1 } = metadata;
      if ((status as { observedGeneration: number }).observedGeneration === generation) continue;
      this.cluster.edit('deployments', name, 'shop', (object) => {
        object.status = { ...(object.status as object), observedGeneration: generation };
      });
      this.#recreate([name]);
    }
  }

  #recreate(names: readonly string[]): void {
    this.roll('ready', names);
    if (this.#plan.end !== 'PodsFailing') return;
    const canary = this.below(this.threshold);
    this.roll(
      'crash',
      names.filter((name) => canary.includes(name)),
    );
  }

  /** Acts as a user who recreates the pods in each step, and then resumes or aborts the rollout. */
  #act(): void {
    const { isRestarting, end, steps } = this.#plan;
    if (this.#isOver && isRestarting !== true && end !== 'PodsFailing' && this.#isFirst('over')) this.roll();
    const route = parseRoute(this.tagPath(tag) ?? '')?.route;
    if (route?.canary !== undefined && route.shadow) {
      this.roll();
      this.reports.shadow = { ...this.reports.shadow, compared: this.reports.shadow.compared + workloads };
    }
    const { step = 0, phase, reason, pausedAt } = this.rollout ?? {};
    if (phase === 'WaitingForPods' && isRestarting !== true && this.#isFirst(`pods ${step}`))
      this.#recreate(this.#names);
    if (phase !== 'Paused') return;
    if (this.#isFirst(`paused ${step}`)) this.#canaries[step] = this.#got('new');
    if (reason === 'Pause') {
      const isLate = this.clock.now().getTime() - Date.parse(pausedAt ?? '') >= 40 * second;
      if (isLate && this.#isFirst('killed in the pause')) this.kill();
    } else if (this.#isFirst(`asked ${step}`)) {
      const verb = end === 'Aborted' && step === steps.length - 1 ? 'abort' : 'resume';
      const action = formatRolloutAction({ verb, nonce: nonceOf(this.#since, step) });
      this.cluster.edit('revisiontags', tag, undefined, ({ metadata }) => {
        metadata.annotations = { [rolloutActionAnnotation]: action };
      });
    }
  }

  /** Returns the workloads whose pods an InjectorConfig has injected. */
  #got(injectorConfig: string): string[] {
    const latest = new Map(this.made.map(({ workload, maker }) => [workload, maker]));
    return this.#names.filter((name) => latest.get(name) === injectorConfig);
  }

  #isFirst(what: string): boolean {
    const isFirst = !this.#done.has(what);
    this.#done.add(what);
    return isFirst;
  }

  get #isOver(): boolean {
    const { injectorConfig, phase } = endOf(this.#plan, this.#since);
    return this.rollout?.phase === phase && this.tagPath(tag) === this.restingPath(injectorConfig);
  }

  #history(writes: readonly RolloutWrite[]): RolloutHistory {
    const { steps, isRestarting, end } = this.#plan;
    const made = this.made.filter(({ at }) => at >= this.#since);
    const moves = pathWritesOf({ writes });
    const got = (until = Infinity): string[] => [
      ...new Set(made.filter(({ maker, at }) => maker === 'new' && at < until).map(({ workload }) => workload)),
    ];
    const rolledBackAt = writes.find(({ state }) => state?.phase === 'RolledBack')?.at ?? Infinity;
    const isBack = ({ workload, maker, at }: (typeof made)[number], index: number): boolean =>
      maker === 'old' &&
      at < rolledBackAt &&
      made.slice(0, index).some((before) => before.workload === workload && before.maker === 'new');
    // The first pod of a workload determines its time, so enter the pods in reverse.
    const readyAt = new Map(
      made
        .flatMap(({ workload, maker, at }): [string, number][] => (maker === 'new' ? [[workload, at]] : []))
        .reverse(),
    );
    return {
      tag,
      workloads,
      minReadyMs: second,
      minimumPods,
      steps: steps.map(({ weight, shadow, pauseSeconds }, index): StepSeen => {
        const canary = this.#canaries[index] ?? got(shadow && moves[index + 1]?.at);
        const tardyMs = 6 * second + (this.#absentMs[index] ?? 0);
        const ends = shadow === true ? 'Compared' : end === 'PodsFailing' ? 'Failed' : 'Paused';
        const pause = pauseSeconds === undefined ? {} : { pauseMs: pauseSeconds * second };
        return { weight, ends, ...pause, tardyMs, canary, readyAt };
      }),
      end: endOf(this.#plan, this.#since),
      writes,
      flippedBack: made.filter(isBack).map(({ workload }) => workload),
      restartable: isRestarting === true ? this.#names : end === 'PodsFailing' ? got() : [],
      podsMadeAt: made.map(({ at }) => at),
    };
  }
}

function nonceOf(since: number, step: number): string {
  return `${since}-${step}`;
}

function endOf({ end, steps }: Plan, since: number): RolloutHistory['end'] {
  if (end === 'Promoted') return { phase: end, reason: end, injectorConfig: 'new' };
  const abort = end === 'Aborted' ? { abort: nonceOf(since, steps.length - 1) } : {};
  return { phase: 'RolledBack', reason: end, injectorConfig: 'old', ...abort };
}

function strategyOf({ steps, isRestarting, end }: Plan): Record<string, unknown> {
  const planned = steps.map(({ weight, shadow, pauseSeconds }) => {
    if (shadow === true) return { weight, shadow };
    return { weight, pause: pauseSeconds === undefined ? 'UntilResumed' : `${pauseSeconds}s` };
  });
  const canary = { steps: planned, analysis: { minimumPods, minReadySeconds: 1 } };
  if (end === 'PodsFailing') return { canary, rollback: { restart: 'Canary' } };
  const restart = { maxUnavailableWorkloads: 5, perNamespace: 5, minReadySeconds: 0 };
  return isRestarting === true ? { canary, restart } : { canary };
}

function deployment(name: string) {
  const replicas = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const template = { metadata: { labels: { app: name } }, spec: { containers: [] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop', generation: 1 },
    spec: { replicas: 1, selector: { matchLabels: { app: name } }, template },
    status: { observedGeneration: 1, ...replicas },
  };
}

/** Returns a function that describes a write: the object, the phase of the rollout, the ordinal. */
function keyReader(): (write: RolloutWrite) => string {
  let phase = 'before';
  const counts = new Map<string, number>();
  return ({ verb, resource, name, state, restart }) => {
    if (state !== undefined) phase = phaseOf(state);
    // Restarted workloads are interchangeable.
    const what = `${verb} ${resource} ${restart === undefined ? name : 'of a workload'} (${phase})`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
    return `${what} no. ${counts.get(what) ?? 0}`;
  };
}

function keysOf({ writes }: RolloutHistory): string[] {
  return writes.map(keyReader());
}

describe('the leader is killed after each write of a rollout', () => {
  const rollout = new KilledRollout();
  beforeEach(() => rollout.open());
  afterEach(() => rollout.stop());

  /** The writes of the plans so far: a step of one plan is like the same step of another plan. */
  const covered = new Set<string>();
  const right = new Map<Plan, RolloutHistory>();
  const undisturbed = async (plan: Plan): Promise<RolloutHistory> => {
    const history = right.get(plan) ?? (await rollout.rollOut(plan));
    right.set(plan, history);
    return history;
  };

  for (const plan of [byPerson, byOperator, aborted, failing]) {
    it(`${plan.name}: it ends as planned, and complies with every rule`, async () => {
      const history = await undisturbed(plan);
      assert.deepEqual(judgeRollout(history), [], 'undisturbed');
      const left = new Set(keysOf(history).filter((key) => !covered.has(key)));
      for (const key of left) covered.add(key);
      const kinds = new Set(history.writes.map(({ verb, resource }) => `${verb} ${resource}`));
      for (const kind of [
        'patch revisiontags/status',
        'patch mutatingwebhookconfigurations',
        'patch injectorconfigs/status',
      ])
        assert.ok(kinds.has(kind), `an undisturbed rollout has a write ${kind}`);
      for (let trial = 1; left.size > 0; trial += 1) {
        const killed: string[] = [];
        let since = spacing;
        const fate: Fate = (_, key) => {
          since += 1;
          if (since <= spacing || !left.delete(key)) return false;
          since = 0;
          return killed.push(key) > 0;
        };
        const faults = judgeRollout(await rollout.rollOut(plan, fate, trial === 1));
        assert.deepEqual(faults, [], `killed after ${killed.join(', ')}`);
        assert.ok(killed.length > 0, `never written again: ${[...left].join(', ')}`);
      }
    });
  }

  it('a killed process writes nothing more, but its last write is stored', async () => {
    rollout.isFatal = ({ resource }) => resource === 'revisiontags/status';
    rollout.setSpec(tag, { revision: 'new', strategy: strategyOf(byPerson) }, 'revisiontags');
    assert.equal(await rollout.reconcileTag(tag), 0);
    assert.equal(rollout.rollout?.reason, 'StepStarted');
    const { length } = rollout.cluster.writes;
    await rollout.clock.advance(hour);
    assert.equal(rollout.cluster.writes.length, length);
    await assert.rejects(rollout.reconcilers.tags.reconcile(tag, new AbortController().signal), /abort/);
    assert.equal(rollout.cluster.writes.length, length);
  });

  it('negative control: a process that writes the webhook before the status begins a rollout twice', async () => {
    rollout.isLost = ({ resource, body }) => resource === 'revisiontags/status' && body.includes('StepStarted');
    const history = await rollout.rollOut(byPerson, ({ path }) => {
      rollout.isLost = () => false;
      return path !== undefined && rollout.kills === 0;
    });
    assert.match(judgeRollout(history).join('\n'), /^the rollout began 2 times/);
  });

  it('negative control: a process that loses a restart restarts a workload twice', async () => {
    rollout.isLost = ({ resource }) => resource === 'deployments' && rollout.kills === 0;
    const history = await rollout.rollOut(byOperator, ({ restart }) => restart !== undefined && rollout.kills === 0);
    assert.match(judgeRollout(history).join('\n'), /was restarted more than once/);
  });

  it('negative control: exactly one rule refuses each falsified rollout', async () => {
    const falsified = falsify(await undisturbed(byPerson), await undisturbed(aborted), await undisturbed(failing));
    assert.deepEqual([...falsified.keys()].sort(), [...rules.keys()].sort());
    for (const [name, history] of falsified) {
      const refused = [...rules].flatMap(([each, rule]) => (rule(history).length > 0 ? [each] : []));
      assert.deepEqual(refused, [name]);
    }
  });
});

const hour = 3_600_000;

/** Returns, for each rule, a history that only this rule must refuse. */
function falsify(promoted: RolloutHistory, stopped: RolloutHistory, failed: RolloutHistory) {
  const [first, later] = promoted.steps as [StepSeen, StepSeen];
  const timed = stopped.steps.findIndex(({ pauseMs }) => pauseMs !== undefined);
  const [move, secondMove, lastMove] = promoted.writes.filter(({ path }) => path !== undefined);
  const begun = stateOf(promoted, ({ step }) => step === 1);
  const paused = stateOf(promoted, isPausedAt(0));
  const answered = stateOf(stopped, ({ phase }) => phase === 'RolledBack');
  const rolledBack = stateOf(failed, ({ phase }) => phase === 'RolledBack');
  const newcomer = later.canary.find((name) => !first.canary.includes(name));
  return new Map<string, RolloutHistory>([
    ['a rollout begins once', after(promoted, begun, withState(begun, { startedAt: 'later' }))],
    ['a step begins once', after(promoted, begun, withState(begun, { stepStartedAt: 'later' }))],
    ['a step has its planned weight', after(promoted, begun, withState(begun, { weight: 61 }))],
    [
      'a share never shrinks',
      edited(promoted, move, { path: move?.path?.replace(/[0-9a-f]{16}/, everyWorkload) ?? '' }),
    ],
    ['a share is exact', withStep(promoted, later, { canary: later.canary.filter((name) => name !== newcomer) })],
    [
      'a workload keeps the canary in later steps',
      withStep(promoted, later, {
        canary: [...later.canary.filter((name) => name !== first.canary[0]), 'other'],
        // The pods of `other` are ready in time, so that only the name of the workload is wrong.
        readyAt: new Map([...later.readyAt, ['other', 0]]),
      }),
    ],
    ['a step collects its evidence', without(promoted, isPausedAt(0))],
    ['a step ends after its evidence', edited(promoted, paused, { at: paused.at + hour })],
    [
      'evidence consists of pods that were ready for long enough',
      withStep(promoted, later, { readyAt: readyAll(later, paused.at + hour) }),
    ],
    [
      'a shadow step ends after its comparisons',
      { ...stopped, podsMadeAt: stopped.podsMadeAt.slice(1 - stopped.minimumPods) },
    ],
    ['a pause begins once', after(promoted, paused, withState(paused, { pausedAt: 'later' }))],
    ['a pause is not shorter than planned', withShortPause(stopped, timed)],
    ['a pause is not longer than planned', withLongPause(stopped, timed)],
    ['the webhook is updated once per step and once at the end', after(promoted, secondMove, secondMove)],
    [
      'the webhook finally points to the planned InjectorConfig',
      edited(promoted, lastMove, { path: `/tags/${tag}/v9/00000000/inject` }),
    ],
    ['a rollout ends as planned', without(promoted, ({ phase }) => phase === 'Promoted')],
    ['the canary does not return after its rollback', withReturn(failed, rolledBack)],
    ['an abort is executed once', after(stopped, answered, refused(answered))],
    [
      'a workload is restarted at most once per revision',
      { ...after(promoted, paused, restartOf('work-0'), restartOf('work-0')), restartable: ['work-0'] },
    ],
    ['only eligible workloads are restarted', after(failed, rolledBack, restartOf('work-999'))],
    ['the operator writes no other objects', after(promoted, paused, { ...other, resource: 'secrets' })],
  ]);
}

/** Dates the readiness of pods later, so that only half of the planned pause remains. */
function withShortPause(history: RolloutHistory, index: number): RolloutHistory {
  const step = history.steps[index];
  assert.ok(step);
  const evidence = (endOfStep(statesOf(history), index)?.at ?? 0) - (step.pauseMs ?? 0) / 2;
  const ready = withStep(history, step, { readyAt: readyAll(step, evidence - history.minReadyMs) });
  return edited(ready, stateOf(history, isPausedAt(index)), { at: evidence });
}

/** Delays all writes after the start of the pause by an hour. */
function withLongPause(history: RolloutHistory, index: number): RolloutHistory {
  const place = history.writes.indexOf(stateOf(history, isPausedAt(index)));
  const writes = history.writes.map((write, each) => (each > place ? { ...write, at: write.at + hour } : write));
  return { ...history, writes };
}

/** Adds a first step after the rollback, and then the rollback again. */
function withReturn(history: RolloutHistory, rolledBack: RolloutWrite): RolloutHistory {
  const first = stateOf(history, ({ canary, step }) => canary !== undefined && step === 0);
  return after(history, rolledBack, first, rolledBack);
}

function refused(write: RolloutWrite): RolloutWrite {
  const action = write.state?.action;
  assert.ok(action);
  return withState(write, { action: { ...action, state: 'Refused' } });
}

const other: RolloutWrite = { verb: 'patch', resource: 'deployments', name: 'other', at: 0 };

function restartOf(name: string): RolloutWrite {
  return { ...other, name, restart: `deployments ${name} for new.00000000` };
}

function isPausedAt(index: number): (state: RolloutState) => boolean {
  return ({ phase, step }) => phase === 'Paused' && step === index;
}

function stateOf({ writes }: RolloutHistory, isSo: (state: RolloutState) => boolean): RolloutWrite {
  return writes.find(({ state }) => state !== undefined && isSo(state)) ?? assert.fail('the rollout has no such write');
}

function withState(write: RolloutWrite, fields: Partial<RolloutState>): RolloutWrite {
  assert.ok(write.state);
  return { ...write, state: { ...write.state, ...fields } };
}

function after(history: RolloutHistory, place: RolloutWrite | undefined, ...more: (RolloutWrite | undefined)[]) {
  assert.ok(place);
  const writes = history.writes.flatMap((write) => (write === place ? [write, ...more] : [write]));
  return { ...history, writes: writes.flatMap((write) => write ?? []) };
}

function edited(
  history: RolloutHistory,
  place: RolloutWrite | undefined,
  fields: Partial<RolloutWrite>,
): RolloutHistory {
  assert.ok(place);
  return { ...history, writes: history.writes.map((write) => (write === place ? { ...write, ...fields } : write)) };
}

function without(history: RolloutHistory, isLeftOut: (state: RolloutState) => boolean): RolloutHistory {
  return { ...history, writes: history.writes.filter(({ state }) => state === undefined || !isLeftOut(state)) };
}

function withStep(history: RolloutHistory, step: StepSeen, fields: Partial<StepSeen>): RolloutHistory {
  return { ...history, steps: history.steps.map((each) => (each === step ? { ...each, ...fields } : each)) };
}

function readyAll({ canary }: StepSeen, at: number): ReadonlyMap<string, number> {
  return new Map(canary.map((name) => [name, at]));
}
