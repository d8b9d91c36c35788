import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { found } from '../../harness/wait-for.ts';
import { configMap, NotedLog, type Workbench } from './workbench.ts';

const events = resourceKind('events.k8s.io/v1', 'Event');
type RecordedEvent = KubernetesObject & {
  regarding: { name?: string };
  series?: { count: number };
};

/** The same Event again becomes a series, many different ones about one object are thinned out, and one that cannot be written is no error. */
export async function checkEvents(bench: Workbench): Promise<void> {
  const { context } = bench;
  const client = 'km-events';
  const namespace = await context.namespace('events');
  const [repeated, noisy] = await Promise.all(
    ['repeated', 'noisy'].map((name) => context.client.create(configMap(namespace, name))),
  );
  if (repeated === undefined || noisy === undefined) throw new Error('the objects were not created');
  const log = new NotedLog();
  const recorder = recorderOf(bench, client, log);
  const event = { type: 'Warning', reason: 'Tried', action: 'Try' } as const;
  for (let index = 0; index < 500; index++) recorder.record(repeated, { ...event, note: 'the same again' });
  for (let index = 0; index < 100; index++) recorder.record(noisy, { ...event, note: `number ${index}` });
  const about = async (name: string): Promise<RecordedEvent[]> => {
    const { items } = await context.client.listAll<RecordedEvent>(events, { namespace });
    return items.filter(({ regarding }) => regarding.name === name);
  };
  await context.check('100 different Events about one object: 25 are written', async () =>
    found(String((await about('noisy')).length), '25'),
  );
  await context.check('one Event 500 times: one is written', async () =>
    found(String((await about('repeated')).length), '1'),
  );
  await checkRefused(bench, repeated);
  await sleep(29_000);
  await context.check('30 s later it is a series of 500, by one write', async () => {
    const [series] = await about('repeated');
    const patches = bench.writesOf(client).filter((write) => write.startsWith('patch'));
    return found([series?.series?.count ?? 'none', ...patches].join(), '500,patch 200');
  });
  await context.checkNow('nothing of it failed', () => found(JSON.stringify(log.lines), '[]'));
  bench.compare('events', 'different ones about one object', '25, then 1 in 5 min', '25, then 1 in 5 min');
  bench.compare('events', 'one 500 times', '2 writes in 30 s', '2 writes, then 1 in 30 min');
}

async function checkRefused(bench: Workbench, regarding: KubernetesObject): Promise<void> {
  const { context, proxy } = bench;
  const client = 'km-refused-events';
  const log = new NotedLog();
  const recorder = recorderOf(bench, client, log);
  const refused = await proxy.fault({ match: { client }, action: { kind: 'answer', status: 403 } });
  recorder.record(regarding, { type: 'Normal', reason: 'Refused', action: 'Try', note: 'not written' });
  await context.check('an Event that the API server refuses costs a line of the log, and nothing else', () =>
    found(log.lines.map(({ message }) => message).join(), 'an event was not written'),
  );
  await refused.end();
}

function recorderOf(bench: Workbench, client: string, logger: NotedLog): EventRecorder {
  const controller = 'sidecar-injector.io/e2e';
  return new EventRecorder({ client: bench.client(client), clock: systemClock, logger, controller, instance: client });
}
