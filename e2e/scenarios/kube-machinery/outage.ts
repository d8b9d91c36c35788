import { ReconcileLoop } from '../../../src/operator/controller/reconcile-loop.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { Followed } from './followed.ts';
import { configMap, NotedLog, type Workbench } from './workbench.ts';

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
      await api.apply(configMap(namespace, `outage-${key}`, { data: { at: String(Date.now()) } }), {
        fieldManager: client,
        signal,
      });
      done.set(key, Date.now());
      return 3_600_000;
    },
  });
  const running = loop.run(stop.signal);
  const followed = new Followed(api, {
    resource: resourceKind('v1', 'ConfigMap'),
    namespace,
    labelSelector: 'e2e=outage',
    random: () => bench.random.next(),
    onRecovered: () => {
      loop.recovered();
    },
  });
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
  const still = {
    meanwhile: await bench.standstill.between(began, ended),
    afterwards: await bench.standstill.between(ended, ended + back),
  };
  await context.checkNow(
    `500 for ${met} requests in ${((ended - began) / 1000).toFixed(1)} s: the watch was tried ${attempts.length} times, at most ${longest} ms apart`,
    () => gaps.length >= 4 && longest <= 2300 + still.meanwhile,
  );
  const backOffs = backOffsOf(log, 'one');
  const due = new Map(keys.map((key) => [key, dueOf(log, key)]));
  const sooner = Math.min(...keys.map((key) => (due.get(key) ?? 0) - (done.get(key) ?? Infinity)));
  await context.checkNow(
    `a key backed off ${backOffs.join(', ')} ms and was due ${Math.round((due.get('one') ?? 0) - ended)} ms after the outage`,
    () => backOffs.every((each, index) => each === 5 * 2 ** index) && backOffs.at(-1) === lastBackOff,
  );
  await context.checkNow(
    `the first answer after the outage has all ${keys.length} keys tried: done ${back} ms after it, each ${sooner} ms at least before it was due`,
    () => back <= 2500 + still.afterwards && sooner > 0,
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
  bench.compare(
    'queue',
    'keys after an outage',
    `at once (${back} ms)`,
    `when due (${Math.round((due.get('one') ?? 0) - ended)} ms)`,
  );
}

/** When the watch was tried since a time, in milliseconds since 1970. */
function attemptsSince({ reads }: Followed, time: number): number[] {
  return reads.watches.map(({ at }) => at).filter((at) => at >= time);
}

/** When a key's last wait ends, in milliseconds since 1970. */
function dueOf(log: NotedLog, key: string): number {
  const at = log.lines.findLast(({ fields }) => fields['key'] === key)?.at ?? 0;
  return at + (backOffsOf(log, key).at(-1) ?? 0);
}

/** The waits, in milliseconds, that were logged for a key. */
function backOffsOf({ lines }: NotedLog, key: string): number[] {
  return lines
    .filter(({ fields }) => fields['key'] === key)
    .map(({ fields }) => Number.parseInt(String(fields['again']), 10));
}
