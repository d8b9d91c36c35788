import { setTimeout as sleep } from 'node:timers/promises';
import { writeMeasurement, type Figures } from '../../bench/report.ts';
import { applyAll } from '../harness/apply.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { otherInjector } from '../harness/paths.ts';
import { isInjected } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none } from '../harness/wait-for.ts';
import { WorkerHandle } from '../harness/worker/worker-handle.ts';
import { istioConfig, istioConfigMaps, istioTexts } from './istio-templates/istio-texts.ts';
import type { AttackMethods, HostileReview } from './stall/attack-worker.ts';
import { stallConfigs } from './stall/configs.ts';
import { judgeStretch, MainThread, recordLease, type StretchFigures, type Witnesses } from './stall/stretch.ts';

const sizes = {
  short: { undisturbed: 8000, rounds: 2, limit: 60_000, walked: 6 },
  full: { undisturbed: 60_000, rounds: 4, limit: 3_600_000, walked: 60 },
};
/** The number of attacking clients. On two cores, more clients would slow the API server itself. */
const clients = 1;
/** The number of innocent pods created per second, for all InjectorConfigs together. */
const perSecond = 20;
/** The time in ms that the negative control freezes the operator; exceeds a webhook timeout. */
const frozen = 11_000;
const proxyName = 'stall-proxy';

export const stall: Scenario = {
  name: 'stall',
  about:
    'hostile pods of many classes (a field and a text each) do not delay innocent pods or cause their loss, and the leader keeps its Lease',
  destructive: 'it needs the audit log of the embedded control plane',
  full: 'every field with every text: 5,900 classes, four pods of each class, 12 minutes',
  alone: 'it judges milliseconds under attack',
  run: async (context) => {
    const { size, seed } = context;
    const { undisturbed, rounds, limit, walked } = sizes[size];
    const audit = context.requireAudit();
    const installation = await context.install();
    // Production logs at level info. At level debug, every request would log a line.
    const operator = await installation.startOperator({ flags: ['--log-level=info'] });
    const pid = operator.process.pid;
    const standstill = context.standstill();
    const { hostile, innocent } = await installConfigs(context);
    const orders = { kubeconfig: context.cluster.kubeconfig, all: size === 'full', seed };
    const attacker = new WorkerHandle<AttackMethods>(new URL('./stall/attack-worker.ts', import.meta.url), orders);
    context.atEnd(() => attacker.end());
    const names = await attacker.call('names');
    const loads = await Promise.all(
      innocent.map((namespace) =>
        context.startLoad({
          namespace,
          perSecond: perSecond / innocent.length,
          replicaSetPods: 0,
          inspect: (pod) => (isInjected(pod) ? undefined : { kind: 'plain', what: 'stored without our status' }),
        }),
      ),
    );
    const lease = await recordLease(context, installation.namespace, operator.process.name);
    const thread = new MainThread(pid ?? 0);
    context.atEnd(() => thread.stop());
    const witnesses = { loads, audit, lease, standstill, thread };
    await sleep(2000);
    await longestDelay(operator);
    const usual = await during(witnesses, () => sleep(undisturbed));
    const quietDelay = await longestDelay(operator);
    context.say(`undisturbed: ${describe(usual)}, event loop at most ${quietDelay} ms late`);
    await context.checkNow(`without an attack, none of ${usual.created} innocent pods is lost`, () => none(usual.lost));

    const attack = () => attacker.call('attack', hostile, { rounds, clients, limit });
    const { result: reviews, ...attacked } = await during(witnesses, attack);
    const delay = await longestDelay(operator).catch(() => Number.NaN);
    context.say(`attacked: ${describe(attacked)}, event loop at most ${delay} ms late`);
    for (const line of describeReviews(reviews)) context.say(line);
    const violations = violationsOf(attacked, usual, operator.process.name);
    const figures: Figures = {
      classes: names.length,
      reviews: reviews.length,
      ...summarise(reviews),
      innocent: { undisturbed: figuresOf(usual), attacked: figuresOf(attacked) },
      eventLoopLateMilliseconds: { undisturbed: quietDelay, attacked: delay },
    };
    if (otherInjector !== undefined) return await mustHaveLost(context, violations, figures);
    await context.checkNow(
      `during ${reviews.length} hostile reviews of ${names.length} classes, none of ${attacked.created} innocent pods was lost or late and the leader kept its Lease (p99 ${attacked.p99Milliseconds} ms, undisturbed ${usual.p99Milliseconds} ms)`,
      () => none(violations),
    );
    const answered = new Set(reviews.filter((review) => !unanswered(review)).map(({ name }) => name));
    await context.checkNow('the operator answered at least one review of every class', () =>
      none(names.filter((name) => !answered.has(name))),
    );
    const worst = await walkSlowest(context, attacker, thread, hostile, slowestFirst(reviews).slice(0, walked));
    await context.checkNow('after the attack, the same operator process runs', () => operator.process.pid === pid);

    const stalled = await during(witnesses, async () => {
      operator.process.freeze();
      await sleep(frozen);
      operator.process.unfreeze();
      await operator.waitUntilReady();
    });
    const seen = violationsOf(stalled, usual, operator.process.name);
    await context.checkNow(
      `negative control: the test detects that the operator was frozen for ${frozen / 1000} s: ${seen.join('; ')}`,
      () => stalled.lost.length > 0 && seen.length === 3,
    );
    context.measured({ ...figures, alone: worst.figures, control: figuresOf(stalled) });
    return `${reviews.length} hostile reviews of ${names.length} classes; ${attacked.created} innocent pods created during the attack, 0 lost, p99 ${attacked.p99Milliseconds} ms (undisturbed ${usual.p99Milliseconds} ms); Lease renewals at most ${attacked.lease.longestGap} ms apart; the slowest class is ${worst.description}`;
  },
};

async function installConfigs(context: ScenarioContext): Promise<{ hostile: string[]; innocent: string[] }> {
  const { client } = context;
  const { texts, source } = istioTexts();
  context.say(`the proxy comes from ${source}`);
  const istio = await context.namespace('istio');
  await applyAll(client, istioConfigMaps(istio, proxyName, texts));
  const namespaces = { hostile: [] as string[], innocent: [] as string[] };
  for (const config of [istioConfig(istio, proxyName), ...stallConfigs()]) {
    await applyUntilReady(client, config);
    const { name } = config.metadata;
    for (const kind of ['hostile', 'innocent'] as const) {
      namespaces[kind].push(await context.namespace(`${kind}-${name}`, { 'istio.io/rev': name }));
    }
  }
  return namespaces;
}

async function during<Result>(witnesses: Witnesses, run: () => Promise<Result>) {
  const from = Date.now();
  const result = await run();
  const to = Date.now();
  // Wait until all pods that were requested before `to` have been answered.
  await Promise.all(witnesses.loads.map((load) => load.settled(to)));
  return { ...(await judgeStretch(witnesses, from, to)), result };
}

async function mustHaveLost(context: ScenarioContext, violations: string[], figures: Figures): Promise<string> {
  for (const fall of violations) context.say(fall);
  await context.checkNow('the operator of another version fails the check', () => violations.length > 0);
  const { size, seed } = context;
  const path = writeMeasurement('stall-before', { size, seed, fallsShort: violations, ...figures });
  return `operator of another version: ${violations.join('; ')}; written: ${path}`;
}

function describe({ created, lost, p50Milliseconds, p99Milliseconds, maxMilliseconds, lease }: StretchFigures): string {
  return `${created} innocent pods, ${lost.length} lost, p50 ${p50Milliseconds} ms, p99 ${p99Milliseconds} ms, at most ${maxMilliseconds} ms, Lease renewed ${lease.renewals} times, at most ${lease.longestGap} ms apart`;
}

function figuresOf({ created, lost, lease, ...times }: StretchFigures): Figures {
  const { renewals: leaseRenewals, transitions: leaseTransitions, longestGap: leaseLongestGapMilliseconds } = lease;
  return { created, lost: lost.length, ...times, leaseRenewals, leaseTransitions, leaseLongestGapMilliseconds };
}

/** Returns the longest delay of an operator's event loop since the last call, in milliseconds. */
async function longestDelay(operator: OperatorProcess): Promise<number> {
  const found = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await operator.metrics())?.[1];
  if (found === undefined) throw new Error("the operator's metrics have no event loop delay");
  return Math.round(Number(found) * 1000);
}

/** The milliseconds by which innocent pods may be slower than without an attack. */
const maximumSlowdown = 100;
/** The milliseconds after which a leader that cannot renew its Lease resigns. */
const renewDeadline = 10_000;

/** Describes lost pods, late pods, and failures to renew the Lease. */
function violationsOf(stretch: StretchFigures, undisturbed: StretchFigures, holder: string): string[] {
  const { created, lost, p99Milliseconds, p99WithoutStandstillMilliseconds: own, lease } = stretch;
  const usual = undisturbed.p99WithoutStandstillMilliseconds;
  const found: string[] = [];
  if (lost.length > 0) found.push(`${lost.length} of ${created + lost.length} innocent pods were lost`);
  if (own > usual + maximumSlowdown)
    found.push(`innocent pods are late: p99 ${p99Milliseconds} ms, ${own} ms without stalls, ${usual} ms undisturbed`);
  const others = lease.holders.filter((each) => each !== holder);
  if (others.length > 0 || lease.transitions > 0 || lease.longestGap >= renewDeadline) {
    found.push(`the Lease had ${lease.transitions} transitions and was not renewed for ${lease.longestGap} ms`);
  }
  return found;
}

/** The milliseconds for which one review may block the main thread. */
const most = 100;
/** The attempts per class, because garbage collection makes only some attempts slow. */
const attempts = 4;

/**
 * Creates pods of the slowest classes one by one. Checks that no class blocks the main thread for
 * long in all attempts.
 *
 * @param hostile the namespaces of hostile pods, one per InjectorConfig
 */
async function walkSlowest(
  context: ScenarioContext,
  attacker: WorkerHandle<AttackMethods>,
  thread: MainThread,
  hostile: readonly string[],
  chosen: readonly HostileReview[],
) {
  const worst = { name: 'none', namespace: '', milliseconds: 0 };
  const tooLong: string[] = [];
  for (const { name } of chosen) {
    for (const namespace of hostile) {
      let least = Infinity;
      for (let attempt = 0; attempt < attempts && least > most / 2; attempt++) {
        const before = thread.ran();
        await attacker.call('one', name, namespace, true);
        least = Math.min(least, Math.round(thread.ran() - before));
      }
      if (least > most) tooLong.push(`${name} in ${namespace}: ${least} ms`);
      if (least > worst.milliseconds) Object.assign(worst, { name, namespace, milliseconds: least });
    }
  }
  await context.checkNow(
    `none of the ${chosen.length} slowest classes blocks the main thread for more than ${most} ms (the maximum is ${worst.milliseconds} ms)`,
    () => none(tooLong),
  );
  const { name, namespace, milliseconds } = worst;
  return {
    description: `${name}, ${milliseconds} ms`,
    figures: { classes: chosen.length, slowestClass: `${name} in ${namespace}`, mainThreadMilliseconds: milliseconds },
  };
}

const described = 5;

function slowestFirst(reviews: readonly HostileReview[]): HostileReview[] {
  const slowest = new Map<string, HostileReview>();
  for (const review of reviews) {
    if (review.milliseconds > (slowest.get(review.name)?.milliseconds ?? -1)) slowest.set(review.name, review);
  }
  return [...slowest.values()].sort((left, right) => right.milliseconds - left.milliseconds);
}

function unanswered({ outcome }: HostileReview): boolean {
  return outcome === 'deadline' || outcome === 'failed';
}

function describeReviews(reviews: readonly HostileReview[]): string[] {
  const failed = reviews.filter(unanswered);
  return [
    `outcomes: ${JSON.stringify(outcomesOf(reviews))}`,
    ...slowestFirst(reviews)
      .slice(0, described)
      .map(({ name, milliseconds, outcome }) => `${Math.round(milliseconds)} ms: ${name} (${outcome})`),
    ...failed.slice(0, described).map(({ name, message }) => `not answered: ${name}: ${message}`),
  ];
}

function summarise(reviews: readonly HostileReview[]): Figures {
  const [slowest] = slowestFirst(reviews);
  return {
    outcomes: outcomesOf(reviews),
    slowestClass: slowest?.name ?? 'none',
    slowestClassMilliseconds: Math.round(slowest?.milliseconds ?? 0),
  };
}

function outcomesOf(reviews: readonly HostileReview[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of reviews) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
