import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/kube/clock.ts';
import type { Clock } from '../../../src/kube/ports.ts';
import { WorkQueue } from '../../../src/kube/work-queue.ts';
import { ReconcileLoop } from '../../../src/operator/controller/reconcile-loop.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { Followed } from './followed.ts';
import { configMap, configMaps, NotedLog, type Workbench } from './workbench.ts';

/** Keys that are added often are written once at a time, and once more for all that came meanwhile. */
export async function checkDeduplication(bench: Workbench): Promise<void> {
  const { context, namespace } = bench;
  const client = bench.client('km-dedupe');
  await context.client.create(configMap(namespace, 'dedupe'));
  const queue = new WorkQueue({ clock: systemClock });
  let underWay = 0;
  let passes = 0;
  let most = 0;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const work = async (key: string): Promise<void> => {
    most = Math.max(most, ++underWay);
    begin();
    await sleep(50);
    await client.patch(configMap(namespace, key), 'merge', { data: { at: String(performance.now()) } });
    underWay--;
    passes++;
  };
  const running = Promise.all(Array.from({ length: 4 }, () => drain(queue, work)));
  queue.add('dedupe');
  await begun;
  for (let index = 0; index < 1000; index++) queue.add('dedupe');
  await waitFor('what was added meanwhile to be worked on', () => passes >= 2 && underWay === 0);
  await sleep(400);
  queue.stop();
  await running;
  const written = bench.writesOf('km-dedupe').length;
  await context.checkNow(
    `a key that is added 1000 times while it is worked on is written once more: ${written} writes, never two at a time`,
    () => {
      found(String(written), '2');
      return most === 1;
    },
  );
  bench.compare('queue', '1001 adds of a key in work', `${written} passes`, '2 passes');
}

/** A key that fails again and again waits twice as long each time, up to 1000 s. On a clock that skips the waits. */
export async function checkBackOff(bench: Workbench): Promise<void> {
  const { context, namespace } = bench;
  const client = bench.client('km-back-off');
  // All retries of one key: the overall rate is another matter.
  const queue = new WorkQueue({ clock: skippingClock(), burst: 1000 });
  const waits: number[] = [];
  const work = async (key: string): Promise<void> => {
    try {
      // The API server refuses the name.
      await client.create(configMap(namespace, key));
    } catch {
      waits.push(queue.addRateLimited(key));
      if (waits.length === 20) queue.stop();
    }
  };
  queue.add('Not_a_name');
  await drain(queue, work);
  const expected = Array.from({ length: 20 }, (_, index) => Math.min(5 * 2 ** index, 1_000_000));
  const refused = bench.writesOf('km-back-off').filter((write) => write === 'create 422').length;
  await context.checkNow(`a key that the API server refuses ${refused} times waits 5 ms, 10 ms … 1000 s`, () => {
    found(waits.join(), expected.join());
    return refused === 20;
  });
  const range = `${waits[0] ?? 0} ms to ${(waits.at(-1) ?? 0) / 1000} s`;
  bench.compare('queue', 'back-off of a key', range, '5 ms to 1000 s');
}

/** All retries together keep to a rate, whatever each key's back-off. */
export async function checkOverallRate(bench: Workbench): Promise<void> {
  const { context, namespace } = bench;
  const client = bench.client('km-rate');
  const queue = new WorkQueue({ clock: systemClock });
  const count = 130;
  const missing: string[] = [];
  /** When each key may be tried again by what the queue said, and when it was; `performance.now`. */
  const due = new Map<string, number>();
  const retried = new Map<string, number>();
  const work = async (key: string): Promise<void> => {
    // It is not there: the first time counts as a failure, and all of them fail at one moment.
    if ((await client.find(configMaps, key, { namespace })) !== undefined) return;
    if (due.has(key)) retried.set(key, performance.now());
    else missing.push(key);
    if (retried.size === count) queue.stop();
  };
  for (let index = 0; index < count; index++) queue.add(`absent-${index}`);
  const running = Promise.all(Array.from({ length: 4 }, () => drain(queue, work)));
  await waitFor('every key to be missed', () => missing.length === count);
  const began = performance.now();
  for (const key of missing) due.set(key, performance.now() + queue.addRateLimited(key));
  await running;
  const dues = [...due.values()].sort((one, other) => one - other);
  const soon = dues.filter((at) => at - began < 100).length;
  const [first = 0, last = 0] = [dues[soon], dues.at(-1)];
  const rate = (1000 * (count - soon - 1)) / (last - first);
  const early = [...due].filter(([key, at]) => (retried.get(key) ?? 0) < at - 5).length;
  const seconds = (Math.max(...retried.values()) - began) / 1000;
  await context.checkNow(
    `${count} keys fail at once: ${soon} are due soon, the others ${rate.toFixed(1)} a second, the last after ${((last - began) / 1000).toFixed(1)} s; each is tried, ${early} too early`,
    () => soon >= 100 && soon <= 102 && Math.abs(rate - 10) < 0.5 && early === 0 && seconds >= 2.5,
  );
  bench.compare('queue', 'retries overall', `${rate.toFixed(1)} a second beyond 100`, '10 a second beyond 100');
}

async function drain(queue: WorkQueue, work: (key: string) => Promise<void>): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    await work(key);
    queue.done(key);
  }
}

/** Time that passes at once whenever somebody waits for it. */
function skippingClock(): Clock {
  let now = 0;
  return {
    now: () => new Date(now),
    monotonic: () => now,
    after: (milliseconds, callback) => {
      const timer = setImmediate(() => {
        now += milliseconds;
        callback();
      });
      return () => {
        clearImmediate(timer);
      };
    },
  };
}

const client = 'km-outage';
const keys = ['one', 'two', 'three', 'four', 'five'];
/** The outage ends when every key waits for so long: it would be tried again 5 s later. Milliseconds. */
const lastBackOff = 5120;

/**
 * The API server answers 500 for a while. Watches come back within 2 s, and the first answer makes every key that failed meanwhile be tried at
 * once, with its back-off forgotten.
 */
export async function checkOutage(bench: Workbench): Promise<void> {
  const { context, namespace, proxy } = bench;
  const api = bench.client(client);
  const log = new NotedLog();
  const done = new Map<string, number>();
  const stop = new AbortController();
  const loop = new ReconcileLoop({
    clock: systemClock,
    logger: log,
    metrics: {},
    reconcile: async (key, signal) => {
      const stored = configMap(namespace, `outage-${key}`, { data: { at: String(Date.now()) } });
      await api.apply(stored, { fieldManager: client, signal });
      done.set(key, Date.now());
      return 3_600_000;
    },
  });
  const running = loop.run(stop.signal);
  const onRecovered = () => {
    loop.recovered();
  };
  const followed = Followed.configMaps(bench, 'outage', { onRecovered });
  await followed.following();

  const refused = await proxy.fault({ match: { client }, action: { kind: 'answer', status: 500 } });
  await (await proxy.fault({ match: { client, verbs: ['watch'] }, action: { kind: 'cut' } })).end();
  const began = Date.now();
  for (const key of keys) loop.add(key);
  await waitFor(
    'every key to wait, and the watch to have been tried',
    () =>
      keys.every((key) => backOffsOf(log, key).at(-1) === lastBackOff) && attemptsSince(followed, began).length >= 5,
  );
  const met = await refused.end();
  const ended = Date.now();
  const attempts = attemptsSince(followed, began);
  await waitFor('every key to be done', () => keys.every((key) => done.has(key)));
  const back = Math.max(...done.values()) - ended;
  const gaps = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
  const longest = Math.max(...gaps);
  const still = await bench.standstill.between(began, ended);
  const stillAfterwards = await bench.standstill.between(ended, ended + back);
  await context.checkNow(
    `500 for ${met} requests in ${((ended - began) / 1000).toFixed(1)} s: the watch was tried ${attempts.length} times, at most ${longest} ms apart`,
    () => gaps.length >= 4 && longest <= 2300 + still,
  );
  const backOffs = backOffsOf(log, 'one');
  const late = Math.round(dueOf(log, 'one') - ended);
  const sooner = Math.min(...keys.map((key) => dueOf(log, key) - (done.get(key) ?? Infinity)));
  await context.checkNow(
    `a key backed off ${backOffs.join(', ')} ms and was due ${late} ms after the outage`,
    () => backOffs.every((each, index) => each === 5 * 2 ** index) && backOffs.at(-1) === lastBackOff,
  );
  await context.checkNow(
    `the first answer after the outage has all ${keys.length} keys tried: done ${back} ms after it, each ${sooner} ms at least before it was due`,
    () => back <= 2500 + stillAfterwards && sooner > 0,
  );
  log.lines.length = 0;
  const again = await proxy.fault({ match: { client, verbs: ['patch'] }, action: { kind: 'answer', status: 500 } });
  loop.add('one');
  await waitFor('the key to fail again', () => backOffsOf(log, 'one').length > 0);
  await again.end();
  await context.checkNow(
    'and their back-off is forgotten: the next failure waits 5 ms',
    () => backOffsOf(log, 'one')[0] === 5,
  );
  stop.abort();
  await Promise.all([running, followed.stop()]);
  bench.compare('reflector', 'back-off in an outage', `at most 2 s (longest wait ${longest} ms)`, '0.8 to 30 s');
  bench.compare('queue', 'keys after an outage', `at once (${back} ms)`, `when due (${late} ms)`);
}

function attemptsSince({ reads }: Followed, time: number): number[] {
  return reads.watches.map(({ at }) => at).filter((at) => at >= time);
}

function dueOf(log: NotedLog, key: string): number {
  const at = log.lines.findLast(({ fields }) => fields['key'] === key)?.at ?? 0;
  return at + (backOffsOf(log, key).at(-1) ?? 0);
}

function backOffsOf({ lines }: NotedLog, key: string): number[] {
  return lines
    .filter(({ fields }) => fields['key'] === key)
    .map(({ fields }) => Number.parseInt(String(fields['again']), 10));
}
